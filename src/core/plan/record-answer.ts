/** What an answer to a check means: the next question, or a verdict. Pure: called again with the newest status after a conflict. */
import type { CheckJob, CheckRecord } from '../model/check-record.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { deadlineOfCheck, type CheckAnswer, type CheckSettings } from '../model/rollout-check.ts';
import { cut } from '../model/text.ts';

/** One question of a check: the first has number 0. */
export interface Question {
  readonly number: number;
  readonly at: Date;
}

/** The question that is due at a time, and the one after it. The times follow from the begin alone, so that all replicas ask the same questions. */
export function questionsAt(
  { everyMs }: CheckSettings,
  { startedAt }: CheckRecord,
  now: Date,
): { readonly due: Question; readonly next: Question } {
  const start = Date.parse(startedAt);
  const number = Math.max(0, Math.floor((now.getTime() - start) / everyMs));
  const questionOf = (index: number) => ({ number: index, at: new Date(start + index * everyMs) });
  return { due: questionOf(number), next: questionOf(number + 1) };
}

/** What is known when an answer is recorded. */
export interface Answered {
  readonly check: CheckSettings;
  readonly question: number;
  readonly answer: CheckAnswer;
  readonly now: Date;
  /** Whether the check goes on because the rollout that it is about is under way: in the phase `during`. */
  readonly isUnderWay: boolean;
}

/** The status with an answer to the check of this id; the same object if there is nothing to record. A verdict is never replaced, and each question counts once. */
export function withAnswer<S extends PolicyStatus>(status: S, id: string, answered: Answered): S {
  const { checks = [] } = status;
  const record = checks.find((one) => one.id === id);
  if (record === undefined || record.state !== 'Running' || answered.question <= (record.answered ?? -1)) return status;
  const next = nextRecord(record, answered);
  return next === record ? status : { ...status, checks: checks.map((one) => (one === record ? next : one)) };
}

function nextRecord(record: CheckRecord, { check, question, answer, now, isUnderWay }: Answered): CheckRecord {
  const { failures = 0, message: before } = record;
  const message = cut(answer.message, maxLengths.message);
  const answeredAs = (state: CheckRecord['state'], count = failures): CheckRecord => ({
    ...record,
    state,
    answered: question,
    ...(count > 0 && { failures: count }),
    ...(message !== '' && { message }),
    ...(state !== 'Running' && { at: now.toISOString() }),
  });
  if (answer.kind === 'fail') return answeredAs(failures + 1 > check.retries ? 'Failed' : 'Running', failures + 1);
  const elapsedMs = now.getTime() - Date.parse(record.startedAt);
  const goesOn = isUnderWay || elapsedMs < (check.forMs ?? 0);
  if (answer.kind === 'pass') return goesOn ? record : answeredAs('Passed');
  if (!isUnderWay && now.getTime() >= deadlineOfCheck(check, record)) return answeredAs('TimedOut');
  return message === before ? record : answeredAs('Running');
}

/** The status that remembers the Job or the AnalysisRun of a check, so that it is not created again when it is gone, and no other one counts. The first one is kept. */
export function withJob<S extends PolicyStatus>(status: S, id: string, job: CheckJob): S {
  const { checks = [] } = status;
  if (checks.every((one) => one.id !== id || one.job !== undefined)) return status;
  return { ...status, checks: checks.map((one) => (one.id === id ? { ...one, job } : one)) };
}
