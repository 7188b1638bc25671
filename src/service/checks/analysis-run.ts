/**
 * The AnalysisRun of an AnalysisTemplate, as Argo Rollouts makes one for a Rollout (`utils/analysis/helpers.go`): args are filled in by name, and nothing else of
 * the template is touched. Pure.
 */
import { z } from 'zod';
import { formatDuration } from '../../core/model/text.ts';
import { texts } from './made-once.ts';

const argument = z.looseObject({
  name: z.string(),
  value: z.string().exactOptional(),
  valueFrom: z.looseObject({ secretKeyRef: z.looseObject({}).exactOptional() }).exactOptional(),
});
const metric = z.looseObject({
  name: z.string(),
  interval: z.string().exactOptional(),
  initialDelay: z.string().exactOptional(),
  count: z.union([z.number(), z.string()]).exactOptional(),
});

/** What is read of an AnalysisTemplate. */
export const analysisTemplate = z.object({
  metadata: z.object({ labels: texts.exactOptional(), annotations: texts.exactOptional() }),
  spec: z.object({
    metrics: z.array(metric).exactOptional(),
    args: z.array(argument).exactOptional(),
    dryRun: z.array(z.unknown()).exactOptional(),
    measurementRetention: z.array(z.unknown()).exactOptional(),
    templates: z.array(z.unknown()).exactOptional(),
  }),
});
export type AnalysisTemplate = z.output<typeof analysisTemplate>;
type Argument = z.output<typeof argument>;
type Metric = z.output<typeof metric>;

/** The spec of a run, or why there is none. `values`: what args of these names are set to. A run must end by itself within `timeoutMs`, because nobody else ends it. */
export function runSpecOf(
  { spec: { metrics = [], args: declared = [], dryRun = [], measurementRetention = [], templates = [] } }: AnalysisTemplate,
  values: Readonly<Record<string, string>>,
  timeoutMs: number,
): object | string {
  if (templates.length > 0) return 'it is made of other templates (spec.templates), which checks do not follow: write their metrics in it';
  if (metrics.length === 0) return 'it has no metrics';
  const args = declared.map((one) => (Object.hasOwn(values, one.name) ? { ...one, value: values[one.name] ?? '' } : one));
  const open = args.find(({ value, valueFrom }) => value === undefined && valueFrom?.secretKeyRef === undefined);
  if (open !== undefined)
    return `its arg ${open.name} has no value: checks set image, tag, policy and, if it is known, digest; each other needs a value in the template`;
  const lengths = metrics.map((one) => lengthOf(one, args));
  const endless = metrics[lengths.indexOf(undefined)];
  if (endless !== undefined)
    return `the end of its metric ${endless.name} is not known: a metric with an interval needs a count, and neither may come from a Secret`;
  const longest = Math.max(...lengths.map((one) => one ?? 0));
  if (longest > timeoutMs)
    return `it takes at least ${formatDuration(longest)}, and the timeout of the check is ${formatDuration(timeoutMs)}`;
  return {
    metrics,
    ...(args.length > 0 && { args }),
    ...(dryRun.length > 0 && { dryRun }),
    ...(measurementRetention.length > 0 && { measurementRetention }),
  };
}

/** The least time that a metric takes, in ms; undefined if it has no end, or none that is known. */
function lengthOf({ interval, initialDelay, count }: Metric, args: readonly Argument[]): number | undefined {
  const durationOf = (text: string | undefined) => (text === undefined || text === '' ? 0 : goDuration(resolve(text, args) ?? '?'));
  const [delayMs, everyMs] = [durationOf(initialDelay), durationOf(interval)];
  const times = typeof count === 'string' ? integerOf(resolve(count, args) ?? '') : (count ?? 0);
  if (delayMs === undefined || everyMs === undefined) return undefined;
  const isRepeated = interval !== undefined && interval !== '';
  if (!isRepeated) return delayMs;
  return times === 0 ? undefined : delayMs + everyMs * Math.max(0, times - 1);
}

/** A text as Go's `strconv.Atoi` reads it for Argo Rollouts: 0 for anything else, which means no count. */
function integerOf(text: string): number {
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** A text with the values of args in it: `{{args.count}}`. undefined if one is not known, such as that of a Secret. */
function resolve(text: string, args: readonly Argument[]): string | undefined {
  let isKnown = true;
  const resolved = text.replaceAll(/\{\{([^{}]*)\}\}/g, (_, tag: string) => {
    const found = args.find(({ name }) => `args.${name}` === tag.trim());
    isKnown &&= found?.value !== undefined && found.valueFrom === undefined;
    return found?.value ?? '';
  });
  return isKnown ? resolved : undefined;
}

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration as Go writes it, in ms: `1m30s`, `1.5h`. undefined for anything else. */
function goDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > 100 || !/^(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?)([a-zµμ]+)/g)];
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (units[unit] ?? Number.NaN), 0);
}
