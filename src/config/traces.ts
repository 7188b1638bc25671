/** `traces`, and what becomes of it with the environment. */
import { z } from 'zod';
import { describeError } from '../model/errors.ts';
import { headerName, secretReference } from './scalars.ts';
import { readSecret } from './secrets.ts';

/** Where traces go; absent: nowhere. */
export const traces = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/, hostname: /./, error: 'a URL such as http://collector:4318' })
      .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'must not hold a password: use headers')
      .describe(
        'The base of an OTLP/HTTP receiver: http://collector:4318; traces are posted to /v1/traces below it. OTEL_EXPORTER_OTLP_ENDPOINT overrides it.',
      ),
    headers: z
      .record(headerName, secretReference)
      .default({})
      .describe('Headers of each export, such as Authorization, each with where its value is: {env: NAME} or {file: PATH}.'),
    sampleRatio: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('The share of traces that is kept, from 0 to 1; what belongs to one push is kept or left together.'),
  })
  .optional()
  .describe('Traces of each push, from the webhook to the rollout, over OTLP; off unless an endpoint is given.');

/** The same with its headers; undefined: no traces. */
export interface TraceSettings {
  readonly endpoint: string;
  readonly sampleRatio: number;
  /** Reads files again, so that what is in them may change. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** Reads the headers once, so that what is missing is known at the start: it is in `problems`. */
export function openTraceSettings(
  config: z.output<typeof traces>,
  env: Readonly<Record<string, string | undefined>>,
): { readonly settings: TraceSettings | undefined; readonly problems: readonly { readonly path: string; readonly message: string }[] } {
  if (config === undefined) return { settings: undefined, problems: [] };
  const { endpoint, sampleRatio } = config;
  const references = Object.entries(config.headers);
  const problems = references.flatMap(([name, reference]) => {
    try {
      readSecret(reference, env);
      return [];
    } catch (error) {
      return [{ path: `traces.headers.${name}`, message: describeError(error) }];
    }
  });
  const headers = () => Object.fromEntries(references.map(([name, reference]) => [name, readSecret(reference, env)]));
  return { settings: { endpoint, sampleRatio, headers }, problems };
}
