import { readFile } from 'node:fs/promises';
import type { CredentialSource } from '../credential.ts';
import { SingleFlight } from '../../../core/async/single-flight.ts';
import { type DockerConfig, parseDockerConfig } from './docker-config.ts';
import { pickCredential } from './secret-offer.ts';

/** A mounted Docker config.json. It is read again after 10 s, and after the registry refused a credential. */
export interface DockerConfigFileOptions {
  file: string;
  now?: () => number;
}

const cacheMs = 10_000;

type Content = DockerConfig | { readonly why: string };

/** The credentials in a Docker config file. While the file cannot be read, there are none, and the reason is reported. */
export function dockerConfigFileCredentials({ file, now = Date.now }: DockerConfigFileOptions): CredentialSource {
  const flights = new SingleFlight<Content>();
  let cached: { content: Content; freshUntil: number } | undefined;
  const read = () =>
    flights.run('', async () => {
      const content = await readConfig(file);
      cached = { content, freshUntil: now() + cacheMs };
      return content;
    });
  return (image) => [
    {
      source: `the Docker config file ${file}`,
      async read({ refresh }) {
        const content = cached && !refresh && now() < cached.freshUntil ? cached.content : await read();
        return 'why' in content ? content : pickCredential(content, image);
      },
    },
  ];
}

async function readConfig(file: string): Promise<Content> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return { why: `cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})` };
  }
  try {
    return parseDockerConfig(text);
  } catch (error) {
    return { why: `cannot be used: it is ${error instanceof Error ? error.message : String(error)}` };
  }
}
