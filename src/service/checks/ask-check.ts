/** Asks a check once: the list of the kinds of questions. */
import type { CheckQuestion } from '../../core/model/rollout-check.ts';
import { describeError } from '../../core/model/errors.ts';
import type { AskCheck, AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import { refusalOf } from './allowed-checks.ts';
import { askAnalysis } from './analysis-check.ts';
import { askEndpoint } from './http-check.ts';
import { askJob } from './job-check.ts';
import { askPrometheus } from './prometheus-check.ts';
import type { CheckMeans } from './check-means.ts';

type Asked<K extends CheckQuestion['kind']> = (
  question: Extract<CheckQuestion, { kind: K }>,
  request: CheckRequest,
  means: CheckMeans,
) => Promise<AskedAnswer>;

/** How each kind of check is asked. */
export const kinds: { readonly [K in CheckQuestion['kind']]: Asked<K> } = {
  http: askEndpoint,
  prometheus: askPrometheus,
  job: askJob,
  analysis: askAnalysis,
};

/** Creates the function that asks. */
export function createAskCheck(means: CheckMeans): AskCheck {
  const ask = <K extends CheckQuestion['kind']>(question: Extract<CheckQuestion, { kind: K }>, request: CheckRequest) =>
    (kinds[question.kind] as Asked<K>)(question, request, means);
  return async (request) => {
    const refused = refusalOf(request.check.question, request.policy.namespace, means);
    if (refused !== undefined) return { kind: 'none', message: refused };
    try {
      return await ask(request.check.question, request);
    } catch (error) {
      return { kind: 'none', message: describeError(error) };
    }
  };
}
