/** Reads an entry of `spec.rollout.checks`. */
import type { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { CheckQuestion, CheckSettings } from '../../core/model/rollout-check.ts';
import { parseDuration } from '../../core/model/text.ts';
import type { checks } from './v1-fields/checks.ts';

type Check = z.output<typeof checks>[number];

/** The settings of a check, with durations in ms. */
export function readCheck(check: Check): CheckSettings {
  const { name, phase, every, timeout, retries } = check;
  const forMs = check.for === undefined ? undefined : parseDuration(check.for);
  return {
    name,
    phase,
    everyMs: parseDuration(every) ?? 10_000,
    ...defined({ forMs }),
    timeoutMs: parseDuration(timeout) ?? 600_000,
    retries,
    question: questionOf(check),
  };
}

function questionOf({ name, http, prometheus, job, analysis }: Check): CheckQuestion {
  if (http !== undefined) return { kind: 'http', url: http.url, secret: http.secretRef };
  if (prometheus !== undefined) return { kind: 'prometheus', ...prometheus };
  if (job !== undefined) return { kind: 'job', cronJob: job.cronJob };
  if (analysis !== undefined) return { kind: 'analysis', template: analysis.template };
  throw new PermanentError('InvalidPolicy', `spec.rollout.checks: ${name} asks nothing: write http, prometheus, job or analysis`);
}
