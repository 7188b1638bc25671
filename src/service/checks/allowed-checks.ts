/** What the operator lets checks use (`checks` of the configuration), and why a question may not be asked. Asking, `lint` and the doctor say the same. */
import { isListedHost } from '../../core/model/host-list.ts';
import type { CheckQuestion } from '../../core/model/rollout-check.ts';

/** The setting `checks`, as far as it allows something. */
export interface AllowedChecks {
  /** The hosts that policies may name. */
  readonly hosts: readonly string[];
  /** The servers of Prometheus, each with the namespaces whose policies may ask it; none for all. */
  readonly servers: readonly { readonly name: string; readonly namespaces: readonly string[] }[];
  /** Whether Jobs may be created. */
  readonly jobs: boolean;
  /** Whether AnalysisRuns may be created. */
  readonly analysis: boolean;
}

type Refusal<K extends CheckQuestion['kind']> = (
  question: Extract<CheckQuestion, { kind: K }>,
  namespace: string | undefined,
  allowed: AllowedChecks,
) => string | undefined;

const refusals: { readonly [K in CheckQuestion['kind']]: Refusal<K> } = {
  http({ url: text }, _, { hosts }) {
    const url = URL.parse(text);
    if (url === null) return 'its url is no URL';
    if (isListedHost(url, hosts)) return undefined;
    return `its host ${url.host} is not allowed: ask the operator to add it to checks.hosts of the configuration`;
  },
  prometheus({ server }, namespace, { servers }) {
    const found = servers.find(({ name }) => name === server);
    const isOffered =
      found !== undefined && (found.namespaces.length === 0 || namespace === undefined || found.namespaces.includes(namespace));
    return isOffered ? undefined : `the operator offers this namespace no server ${server}: see checks.prometheus of the configuration`;
  },
  job: (_, __, { jobs }) => (jobs ? undefined : 'this installation runs no Jobs for checks: checks.jobs of the configuration'),
  analysis: (_, __, { analysis }) =>
    analysis ? undefined : 'this installation makes no AnalysisRuns for checks: checks.analysis of the configuration',
};

/** Why the operator does not let policies of a namespace ask this; undefined if they may, or if that depends on a namespace that is not known. */
export function refusalOf<K extends CheckQuestion['kind']>(
  question: Extract<CheckQuestion, { kind: K }>,
  namespace: string | undefined,
  allowed: AllowedChecks,
): string | undefined {
  return (refusals[question.kind] as Refusal<K>)(question, namespace, allowed);
}
