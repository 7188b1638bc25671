import { z } from 'zod';
import { tryParseImageReference } from '../../../src/core/model/image-reference.ts';
import { parseDockerConfig, type DockerConfig } from '../../../src/service/registry/credentials/docker-config.ts';
import { pickCredential } from '../../../src/service/registry/credentials/secret-offer.ts';
import { family } from '../family.ts';

const credential = z.object({
  username: z.string(),
  password: z.string(),
  identityToken: z.string().optional(),
  registryToken: z.string().optional(),
});
/** What a configuration offers: a credential, and perhaps others that are tried after it. */
const offer = credential.extend({ others: z.array(credential).default([]) });

/** Which credentials a Docker configuration has for an image, in the order in which they are tried; some sources ask for the first only. */
export const credentials = family(
  'credentials',
  z.strictObject({ config: z.string(), image: z.string(), only: z.literal('first').optional() }),
  ({ config, image, only }) => {
    const parsed = parsedOrNot(config);
    if (parsed === undefined) return 'error';
    const reference = tryParseImageReference(image);
    const { data } = offer.safeParse(reference && pickCredential(parsed, reference.repository));
    const found = (data === undefined ? [] : [data, ...data.others]).map(describe);
    return only === 'first' ? found.slice(0, 1) : found;
  },
);

function describe({ username, password, identityToken, registryToken }: z.output<typeof credential>): string {
  if (registryToken !== undefined) return `registry token ${registryToken}`;
  return `${username}:${password}${identityToken === undefined ? '' : ` identity ${identityToken}`}`;
}

function parsedOrNot(text: string): DockerConfig | undefined {
  try {
    return parseDockerConfig(text);
  } catch {
    return undefined;
  }
}
