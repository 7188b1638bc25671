import { type Check, ok, warning } from '../finding.ts';
import { say, sayAge } from '../say.ts';

/** How far the durable record is behind; undefined if the configuration keeps none. */
export type RecordFacts =
  | {
      readonly waiting: number;
      /** How long the oldest entry waits, in ms; undefined if none does. */
      readonly oldestMs: number | undefined;
      /** Why the last try to write failed. */
      readonly problem: string | undefined;
      /** How often entries are written, in ms. */
      readonly intervalMs: number;
      /** How many entries may wait. Beyond that, the oldest are lost. */
      readonly most: number;
    }
  | undefined;

/** The shortest wait of an entry that is worth a warning, in ms. */
const leastMs = 300_000;

/** Checks that the record of activity is written where the setting `record` keeps it. */
export const record: Check<RecordFacts> = {
  id: 'record',
  lines: ['written'],
  evaluate(facts) {
    if (facts === undefined) return [];
    const { waiting, oldestMs = 0, problem, intervalMs, most } = facts;
    const isLate = oldestMs > Math.max(leastMs, 5 * intervalMs);
    if (!isLate && problem === undefined) return [ok('record/written', say('record.written'))];
    const late =
      problem === undefined ? say('record.late', waiting, sayAge(oldestMs)) : say('record.fails', problem, waiting, sayAge(oldestMs));
    return [warning('record/written', late, say('record.do', most))];
  },
};
