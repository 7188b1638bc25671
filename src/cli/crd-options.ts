/** The options of `image-watcher crd`. */
import { readFileSync } from 'node:fs';
import type { ConversionEndpoint } from '../api-versions/crd.ts';
import { kubeconfigOf, processSource } from '../config.ts';
import { parseDuration } from '../model/text.ts';
import { parseOptions, parseOutput, UsageError } from './command.ts';

const options = {
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  output: { type: 'string', short: 'o' },
  'conversion-service': { type: 'string' },
  'conversion-url': { type: 'string' },
  'ca-file': { type: 'string' },
  'ca-secret': { type: 'string' },
  'inject-ca-from': { type: 'string' },
  storage: { type: 'string' },
  serve: { type: 'string' },
  'v1-only': { type: 'boolean' },
  'skip-probe': { type: 'boolean' },
  timeout: { type: 'string' },
  concurrency: { type: 'string' },
  retire: { type: 'string' },
  'unused-for': { type: 'string' },
  'if-present': { type: 'boolean' },
} as const;

type Option = keyof typeof options;
export type CrdValues = ReturnType<typeof parseCrdOptions>['values'];
export type CrdAction = 'print' | 'apply' | 'migrate';

const cluster = ['kubeconfig', 'context', 'output'] as const;
const shape = ['conversion-service', 'conversion-url', 'ca-file', 'inject-ca-from', 'storage', 'v1-only'] as const;
const allowed: Record<CrdAction, readonly Option[]> = {
  print: ['output', ...shape],
  apply: [...cluster, ...shape, 'ca-secret', 'serve', 'skip-probe', 'timeout'],
  migrate: [...cluster, 'concurrency', 'retire', 'unused-for', 'if-present'],
};
const exclusive: readonly (readonly Option[])[] = [
  ['conversion-service', 'conversion-url', 'v1-only'],
  ['ca-file', 'ca-secret', 'inject-ca-from', 'v1-only'],
  ['storage', 'v1-only'],
  ['serve', 'v1-only'],
];

/** Parses the action and its options; throws UsageError for invalid combinations. */
export function parseCrdOptions(args: readonly string[]) {
  const { values, positionals } = parseOptions(args, options);
  const output = parseOutput(values.output);
  const [action, ...rest] = positionals;
  if (rest.length > 0 || !isAction(action)) throw new UsageError('use "crd print", "crd apply" or "crd migrate"');
  const given = new Set(Object.keys(values));
  for (const name of given) {
    if (!(allowed[action] as readonly string[]).includes(name)) throw new UsageError(`"crd ${action}" has no option --${name}`);
  }
  for (const group of exclusive) {
    const both = group.filter((name) => given.has(name));
    if (both.length > 1) throw new UsageError(`--${both.join(' and --')} exclude each other`);
  }
  return { action, output, values };
}

function isAction(text: string | undefined): text is CrdAction {
  return text !== undefined && Object.hasOwn(allowed, text);
}

/** The cluster of the options. */
export function clusterOf(values: Pick<CrdValues, 'kubeconfig' | 'context'>): { kubeconfig?: string; context?: string } {
  const kubeconfig = values.kubeconfig ?? kubeconfigOf(processSource());
  return { ...(kubeconfig !== undefined && { kubeconfig }), ...(values.context !== undefined && { context: values.context }) };
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

/** `NAMESPACE/NAME`. */
export function namespacedName(option: Option, text: string): { namespace: string; name: string } {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined) throw new UsageError(`--${option} is NAMESPACE/NAME, not "${text}"`);
  return { namespace, name };
}

/** The authority of --ca-file, PEM. */
export function readCaFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--ca-file: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new UsageError(`--ca-file: ${file} holds no certificate in PEM form`);
  return text;
}

/** `--storage v1|v1alpha1`. */
export function storageOf({ storage }: CrdValues): 'v1' | 'v1alpha1' | undefined {
  if (storage === undefined || storage === 'v1' || storage === 'v1alpha1') return storage;
  throw new UsageError(`--storage is v1 or v1alpha1, not "${storage}"`);
}

/** Whether an option is given whose only value is v1alpha1. */
export function isV1alpha1(option: 'serve' | 'retire', values: CrdValues): boolean {
  const value = values[option];
  if (value === undefined || value === 'v1alpha1') return value !== undefined;
  throw new UsageError(`--${option} is v1alpha1, not "${value}"`);
}

/** A duration in milliseconds. */
export function durationOf(option: 'timeout' | 'unused-for', values: CrdValues, otherwise: string): number {
  const text = values[option] ?? otherwise;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new UsageError(`--${option} is a duration such as 30s, 10m or 168h, not "${text}"`);
  return milliseconds;
}

/** The number of concurrent requests. */
export function concurrencyOf({ concurrency = '10' }: CrdValues): number {
  const number = Number(concurrency);
  if (Number.isInteger(number) && number >= 1 && number <= 100) return number;
  throw new UsageError(`--concurrency is a number from 1 to 100, not "${concurrency}"`);
}
