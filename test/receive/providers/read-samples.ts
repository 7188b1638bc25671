import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const folder = join(import.meta.dirname, '../../fixtures/payloads');

const manifest = z.object({
  secret: z.string(),
  samples: z.array(
    z.object({
      name: z.string(),
      provider: z.string(),
      file: z.string().nullable(),
      headers: z.string(),
      decision: z.string().regex(/^(?:push|ignore(?:-[a-z-]+)?|handshake)$/),
      expected: z
        .object({
          registry: z.string(),
          repository: z.string(),
          tags: z.array(z.string()),
          digest: z.string().nullable(),
          timestamp: z.union([z.string(), z.number()]).nullable(),
        })
        .nullable(),
    }),
  ),
});

/** A real request of a registry, and what must become of it. */
export interface Sample extends Pick<z.output<typeof manifest>['samples'][number], 'name' | 'provider' | 'decision' | 'expected'> {
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const { secret, samples } = manifest.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));

/** The secret that all samples were sent with. */
export const sampleSecret = secret;

/** The samples of a provider; where they come from is in manifest.json. */
export function readSamples(provider?: string): Sample[] {
  return samples
    .filter((sample) => provider === undefined || sample.provider === provider)
    .map(({ file, headers, ...sample }) => {
      const raw = JSON.parse(readFileSync(join(folder, headers), 'utf8')) as Record<string, string>;
      return {
        ...sample,
        headers: Object.fromEntries(Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value])),
        body: file === null ? Buffer.alloc(0) : readFileSync(join(folder, file)),
      };
    });
}
