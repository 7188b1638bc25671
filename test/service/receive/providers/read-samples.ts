import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';

const folder = join(import.meta.dirname, '../../../fixtures/payloads');

const list = z.object({
  samples: z.array(
    z.object({
      name: z.string(),
      method: z.enum(['POST', 'OPTIONS']),
      file: z.string().nullable(),
      headers: z.string(),
      /** Present for the push of a chart. */
      artifact: z.literal('Chart').optional(),
      decision: z.string().regex(/^(?:push(?:-optional)?|ignore(?:-[a-z-]+)?|handshake)$/),
      expected: z
        .object({
          /** Null if the payload names no registry. */
          registry: z.string().nullable(),
          repository: z.string(),
          tags: z.array(z.string()),
          digest: z.string().nullable(),
          timestamp: z.union([z.string(), z.number()]).nullable(),
        })
        .nullable(),
      /** What a handshake must be answered. */
      response: z.object({ body: z.record(z.string(), z.unknown()).optional() }).optional(),
    }),
  ),
});

/** A real request of a registry, and what must become of it. */
export interface Sample extends Pick<
  z.output<typeof list>['samples'][number],
  'name' | 'method' | 'decision' | 'artifact' | 'expected' | 'response'
> {
  readonly provider: string;
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The secret that all samples were sent with. */
export const sampleSecret = 'test-webhook-secret-0123456789';

/** The samples of a provider (or all); where they come from is in its samples.json. */
export function readSamples(provider = '*'): Sample[] {
  return globSync(join(folder, provider, 'samples.json'))
    .toSorted()
    .flatMap(readList);
}

function readList(file: string): Sample[] {
  const here = dirname(file);
  return list.parse(JSON.parse(readFileSync(file, 'utf8'))).samples.map(({ file: body, headers, ...sample }) => {
    const raw = JSON.parse(readFileSync(join(here, headers), 'utf8')) as Record<string, string>;
    return {
      ...sample,
      provider: basename(here),
      headers: Object.fromEntries(Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value])),
      body: body === null ? Buffer.alloc(0) : readFileSync(join(here, body)),
    };
  });
}
