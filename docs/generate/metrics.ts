import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { code, table } from './markdown.ts';
import type { Parts } from './template.ts';

/** The parts of docs/templates/metrics.md. */
export const metricsParts: Parts = {
  metrics: () => table(['Metric', 'Type', 'Labels', 'Meaning'], ours()),
};

function ours(): string[][] {
  const { registry: _, ...metrics } = createMetrics();
  return Object.values(metrics)
    .map(read)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(', '), help]);
}

/** The library keeps these on every metric, although its types do not tell. */
function read(metric: object): { name: string; help: string; type: string; labelNames: string[] } {
  const { name, help, type, labelNames } = metric as Record<string, unknown>;
  if (typeof name !== 'string' || typeof help !== 'string' || typeof type !== 'string' || !Array.isArray(labelNames)) {
    throw new Error('a metric without a name, a help text, a type or labels');
  }
  return { name, help, type, labelNames: labelNames.map(String) };
}
