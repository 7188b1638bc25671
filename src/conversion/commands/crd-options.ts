/** The options of `image-watcher crd`. */
import { readFileSync } from 'node:fs';
import type { ConversionEndpoint } from '../definition.ts';
import { parseDuration } from '../../core/model/text.ts';
import { describeReadError } from '../../service/config/read-error.ts';
import { type Options, UsageError, type Values } from '../../service/command-line/command.ts';
import type { clusterOptions } from '../../service/command-line/policy-client.ts';
import { fileOption } from '../../service/command-line/usual-options.ts';

/** The options for the shape of the definition. */
export const shapeOptions = {
  'conversion-service': {
    value: 'NAMESPACE/NAME',
    about: 'the Service of the role convert, with :PORT unless it is 443 (default image-watcher/image-watcher-conversion)',
  },
  'conversion-url': { value: 'URL', about: 'instead of a Service: for development, and for a webhook outside of the cluster' },
  'ca-file': fileOption(
    'the certificate authority of the endpoint, PEM; by default for a Service: ca.crt of the Secret of the role convert; for a URL: that of the system',
  ),
  'inject-ca-from': { value: 'NAMESPACE/NAME', about: 'cert-manager writes the authority, from this Certificate' },
  storage: {
    value: 'VERSION',
    choices: ['v1', 'v1alpha1'],
    about: 'the version to store policies in; v1alpha1 is for a downgrade, "crd migrate" then rewrites them',
  },
  'v1-only': { about: 'without v1alpha1 and without a webhook: for clusters that never had v1alpha1' },
} as const satisfies Options;

export const applyOptions = {
  ...shapeOptions,
  'ca-secret': { value: 'NAMESPACE/NAME', about: 'a Secret whose ca.crt is the authority' },
  serve: { value: 'VERSION', choices: ['v1alpha1'], about: 'serve v1alpha1 again after it was retired' },
  'keep-older': { about: 'refuse to replace the definition of a service older than v1, which has to stop before: for Jobs of manifests' },
  'skip-probe': { about: 'skip the request to the endpoint; the API server must still convert all stored policies' },
  timeout: { value: 'DURATION', about: 'how long the API server may fail to convert (default 30s)' },
} as const satisfies Options;

export const migrateOptions = {
  retire: { value: 'VERSION', choices: ['v1alpha1'], about: 'then stop serving v1alpha1; refused while a policy needs it' },
  'unused-for': { value: 'DURATION', about: 'how long nobody may have written through v1alpha1 (default 168h)' },
  concurrency: { value: 'NUMBER', about: 'how many policies are rewritten at once (default 10)' },
  'if-present': { about: 'succeed without a CustomResourceDefinition: nothing is stored then' },
} as const satisfies Options;

/** The options of all three subcommands of `crd`. */
export type CrdValues = Values<typeof applyOptions & typeof migrateOptions & typeof clusterOptions>;

const exclusive: readonly (readonly (keyof CrdValues)[])[] = [
  ['conversion-service', 'conversion-url', 'v1-only'],
  ['ca-file', 'ca-secret', 'inject-ca-from', 'v1-only'],
  ['storage', 'v1-only'],
  ['serve', 'v1-only'],
];

/** Throws UsageError for options that exclude each other. */
export function refuseExclusive(values: CrdValues): void {
  for (const group of exclusive) {
    const both = group.filter((name) => values[name] !== undefined);
    if (both.length > 1) throw new UsageError(`--${both.join(' and --')} exclude each other`);
  }
}

/** The address of the webhook; undefined if the options have none. */
export function endpointOf(values: CrdValues): ConversionEndpoint | undefined {
  const { 'conversion-url': url, 'conversion-service': service } = values;
  if (url !== undefined) {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw new UsageError(`--conversion-url is an https URL, not "${url}"`);
    return { url };
  }
  if (service === undefined) return undefined;
  const [, namespace, name, port = '443'] = /^([^/:]+)\/([^/:]+)(?::(\d{1,5}))?$/.exec(service) ?? [];
  if (namespace === undefined || name === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new UsageError(`--conversion-service is NAMESPACE/NAME or NAMESPACE/NAME:PORT, not "${service}"`);
  }
  return { service: { namespace, name, port: Number(port) } };
}

/** Parses the value `NAMESPACE/NAME` of an option. */
export function namespacedName(option: keyof CrdValues, text: string): { namespace: string; name: string } {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined) throw new UsageError(`--${option} is NAMESPACE/NAME, not "${text}"`);
  return { namespace, name };
}

/** Reads the authority in the file of --ca-file, PEM. */
export function readCaFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--ca-file ${file} ${describeReadError(error)}`, { cause: error });
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new UsageError(`--ca-file: ${file} holds no certificate in PEM form`);
  return text;
}

/** The value of a duration option, in milliseconds. */
export function durationOf(option: 'timeout' | 'unused-for', values: CrdValues, otherwise: string): number {
  const text = values[option] ?? otherwise;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new UsageError(`--${option} is a duration such as 30s, 10m or 168h, not "${text}"`);
  return milliseconds;
}

/** The number of concurrent requests; 10 by default. */
export function concurrencyOf({ concurrency = '10' }: CrdValues): number {
  const number = Number(concurrency);
  if (Number.isInteger(number) && number >= 1 && number <= 100) return number;
  throw new UsageError(`--concurrency is a number from 1 to 100, not "${concurrency}"`);
}
