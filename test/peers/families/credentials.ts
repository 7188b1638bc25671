import { z } from 'zod';
import { tryParseImageReference } from '../../../src/core/image-reference.ts';
import {
  findCredential,
  parseDockerConfig,
  type DockerConfig,
  type DockerConfigEntry,
} from '../../../src/registry/credentials/docker-config.ts';
import { family } from '../family.ts';

/** Which credentials a Docker configuration has for an image, in the order in which they are tried; some sources ask for the first only. */
export const credentials = family(
  'credentials',
  z.strictObject({ config: z.string(), image: z.string(), only: z.literal('first').optional() }),
  ({ config, image, only }) => {
    const parsed = parsedOrNot(config);
    if (parsed === undefined) return 'error';
    const reference = tryParseImageReference(image);
    const best = reference && findCredential(parsed, reference.repository);
    const found = (best === undefined ? [] : [best]).map(describe);
    return only === 'first' ? found.slice(0, 1) : found;
  },
);

function describe({ username, password, identityToken }: DockerConfigEntry): string {
  return `${username}:${password}${identityToken === undefined ? '' : ` identity ${identityToken}`}`;
}

function parsedOrNot(text: string): DockerConfig | undefined {
  try {
    return parseDockerConfig(text);
  } catch {
    return undefined;
  }
}
