/** The steps of an explanation as lines. */
import type { Step } from '../../service/explain/steps.ts';

const marks = { pass: '✓', stop: '✗', wait: '…', note: '·' } as const;

/** A line for a step: ` ✗ window Window: 1.4.0 is applied …`. */
export function lineOf({ id, result, text, origin, reason }: Step, indent: number): string {
  const from = origin === undefined ? '' : ` (${origin === 'policy' || origin === 'built-in' ? origin : `default of the ${origin}`})`;
  const why = reason === undefined || result === 'pass' ? '' : `${reason}: `;
  return `${' '.repeat(indent)}${marks[result]} ${id.padEnd(16)} ${why}${text}${from}`;
}
