import { within } from '../../core/async/deadline.ts';
import { describeError } from '../../core/model/errors.ts';
import { say } from './say.ts';
import { type Check, type Finding, skipped } from './finding.ts';

/** Returns the findings of a check, or why its facts could not be gathered in time; never rejects. */
export async function runCheck<Facts>(check: Check<Facts>, timeoutMs: number, gather: () => Promise<Facts>): Promise<readonly Finding[]> {
  const line = `${check.id}/${check.lines[0]}`;
  try {
    // The facts are in an array, because they may be undefined.
    const gathered = await within(
      timeoutMs,
      gather().then((facts) => [facts] as const),
    );
    return gathered === undefined ? [skipped(line, say('noAnswer', timeoutMs / 1_000))] : check.evaluate(gathered[0]);
  } catch (error) {
    return [skipped(line, describeError(error))];
  }
}
