/** A check by an AnalysisRun of Argo Rollouts, which is made from an AnalysisTemplate in the namespace of the policy. Its controller measures, and image-watcher reads the result. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import type { CheckAnswer, CheckQuestion } from '../../core/model/rollout-check.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { objectPath } from '../kube/objects.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import { analysisTemplate, runSpecOf, type AnalysisTemplate } from './analysis-run.ts';
import { oneLine } from './answer-text.ts';
import type { CheckMeans } from './check-means.ts';
import { askMade, checkConsent, type MadeObject } from './made-once.ts';

const apiVersion = 'argoproj.io/v1alpha1';
const runs = { apiVersion, resource: 'analysisruns', kind: 'AnalysisRun' } as const;
const templates = { apiVersion, resource: 'analysistemplates' } as const;
/** The label by which several controllers of Argo Rollouts share a cluster (`--instance-id`): each sees only the runs with its own. */
const instanceLabel = 'argo-rollouts.argoproj.io/controller-instance-id';
/** How long a run is kept after its end: until its verdict is stored for sure. */
const keptSeconds = 3_600;

const run = z.object({
  spec: z.object({ terminate: z.boolean().exactOptional() }).exactOptional(),
  status: z.object({ phase: z.string().exactOptional(), message: z.string().exactOptional() }).exactOptional(),
});

/** Creates the AnalysisRun of a check, or reads its result. */
export function askAnalysis(
  question: Extract<CheckQuestion, { kind: 'analysis' }>,
  request: CheckRequest,
  means: CheckMeans,
): Promise<AskedAnswer> {
  const { client } = means;
  const make = async () => {
    const found = await findTemplate(question.template, request.policy.namespace, client, request.signal);
    return typeof found === 'string' ? found : runOf(found, question.template, request);
  };
  return askMade({ resource: runs, make, judge: judgeRun }, request, means);
}

function judgeRun(found: unknown, name: string): CheckAnswer | undefined {
  const read = run.safeParse(found);
  if (!read.success) return undefined;
  const { spec, status: { phase, message = '' } = {} } = read.data;
  const why = message === '' ? '' : `: ${oneLine(message)}`;
  switch (phase) {
    case undefined:
    case '':
      return { kind: 'none', message: `the AnalysisRun ${name} waits for the controller of Argo Rollouts` };
    case 'Successful':
      // A run that somebody stops is successful for Argo Rollouts, whatever it has not measured.
      return spec?.terminate === true
        ? { kind: 'none', message: `the AnalysisRun ${name} was stopped before its end` }
        : { kind: 'pass', message: `the AnalysisRun ${name} is successful` };
    case 'Failed':
      return { kind: 'fail', message: `the AnalysisRun ${name} failed${why}` };
    case 'Inconclusive':
      return { kind: 'none', message: `the AnalysisRun ${name} is inconclusive${why}` };
    case 'Error':
      return { kind: 'none', message: `the AnalysisRun ${name} could not measure${why}` };
    default:
      return { kind: 'none', message: `the AnalysisRun ${name} runs` };
  }
}

/** The AnalysisTemplate of a check, or why no AnalysisRun is created from it. */
export async function findTemplate(
  name: string,
  namespace: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<AnalysisTemplate | string> {
  let raw: unknown;
  try {
    raw = await client.request<unknown>({ method: 'GET', path: objectPath(templates, namespace, name), signal });
  } catch (error) {
    if (!isKubeError(error, 404)) throw error;
    // The API server answers 404 without a reason for a kind that it does not know.
    return error.reason === ''
      ? 'Argo Rollouts is not installed in this cluster: it has no AnalysisTemplates'
      : `there is no AnalysisTemplate ${name} in the namespace of the policy`;
  }
  const read = analysisTemplate.safeParse(raw);
  if (!read.success) return `the AnalysisTemplate ${name} cannot be read`;
  if (read.data.metadata.annotations?.[checkConsent.name] !== checkConsent.value)
    return `the AnalysisTemplate ${name} is not allowed for checks: it needs the annotation ${checkConsent.name}: ${checkConsent.value}`;
  return read.data;
}

/** Why no run can be made from a template, of whatever image; undefined if one can. */
export function refusalOfTemplate(template: AnalysisTemplate, templateName: string, timeoutMs: number): string | undefined {
  const spec = runSpecOf(template, { image: '', tag: '', digest: '', policy: '' }, timeoutMs);
  return typeof spec === 'string' ? noRun(templateName, spec) : undefined;
}

function noRun(templateName: string, why: string): string {
  return `the AnalysisTemplate ${templateName} makes no run: ${why}`;
}

/** The run of a template, or why there is none. */
function runOf(template: AnalysisTemplate, templateName: string, { check, record, policy, image }: CheckRequest): MadeObject | string {
  const { tag, digest } = record;
  // The status is not ours alone to write, and args become parts of queries and addresses.
  if (!isTag(tag) || (digest !== undefined && !isDigest(digest))) return 'the record of the check names no tag or digest that is valid';
  const spec = runSpecOf(template, { image, tag, policy: policy.name, ...defined({ digest }) }, check.timeoutMs);
  if (typeof spec === 'string') return noRun(templateName, spec);
  const instance = template.metadata.labels?.[instanceLabel];
  return {
    ...(instance !== undefined && { labels: { [instanceLabel]: instance } }),
    spec: { ...spec, ttlStrategy: { secondsAfterCompletion: keptSeconds } },
  };
}
