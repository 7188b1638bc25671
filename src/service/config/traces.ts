/** Schema of the setting `traces`, and the environment variables that override it. */
import { z } from 'zod';
import { headerName, secretReference } from './scalars.ts';
import type { SettingProblem } from './schema-problems.ts';
import { describeSecretError, readSecret } from './secrets.ts';

/** Schema of the collector of traces; without it, traces are off. */
export const traces = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/, hostname: /./, error: 'a URL such as http://collector:4318' })
      .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'must not hold a password: use headers')
      .describe(
        'The base URL of an OTLP/HTTP collector: http://collector:4318. Traces are posted to /v1/traces below it. The environment variable OTEL_EXPORTER_OTLP_ENDPOINT overrides it.',
      ),
    headers: z
      .record(headerName, secretReference)
      .default({})
      .describe('The headers of each export, such as Authorization. Each value is a reference: {env: NAME} or {file: PATH}.'),
    sampleRatio: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('The share of traces that is exported, from 0 to 1. All spans of one push are either exported or dropped together.'),
  })
  .optional()
  .describe('Traces of each push, from the webhook to the rollout, over OTLP. Off unless an endpoint is set.');

/** The resolved settings of traces. */
export interface TraceSettings {
  readonly endpoint: string;
  readonly sampleRatio: number;
  /** Returns the current headers. Headers in files are read each time. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** Resolves the settings of traces; undefined if they are off. Reads the headers once, so that their errors are known at the start, in `problems`. */
export function openTraceSettings(
  config: z.output<typeof traces>,
  env: Readonly<Record<string, string | undefined>>,
): { readonly settings: TraceSettings | undefined; readonly problems: readonly SettingProblem[] } {
  if (config === undefined) return { settings: undefined, problems: [] };
  const { endpoint, sampleRatio } = config;
  const references = Object.entries(config.headers);
  const problems = references.flatMap(([name, reference]) => {
    try {
      readSecret(reference, env);
      return [];
    } catch (error) {
      return [{ keys: ['traces', 'headers', name], message: describeSecretError(error, reference) }];
    }
  });
  const headers = () => Object.fromEntries(references.map(([name, reference]) => [name, readSecret(reference, env)]));
  return { settings: { endpoint, sampleRatio, headers }, problems };
}
