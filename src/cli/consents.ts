import { readPolicy } from '../service/resources/read-policy.ts';
import { readConfig, registryAliases, type Config } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import { consentAnnotation } from '../core/model/consent-annotation.ts';
import {
  addNamespaces,
  type ConsentGrant,
  evaluateConsent,
  letsSomebody,
  maxConsent,
  namespacesIn,
  withGrants,
} from '../core/plan/consent.ts';
import { describeError } from '../core/model/errors.ts';
import { matchesTarget } from '../core/model/resolve-target.ts';
import { sourceOf } from '../core/plan/plan-fields.ts';
import { runningImagesOf } from '../core/plan/running-images.ts';
import { isUsable, type ImagePolicy, type PolicyTarget } from '../core/model/image-policy.ts';
import { refOf, workloadKey, type Workload, type WorkloadRef } from '../core/model/workload.ts';
import type { KubeClient } from '../service/kube/client.ts';
import type { TargetKind } from '../service/kube/targets.ts';
import { inParallel } from '../core/async/in-parallel.ts';
import { defineCommand, UsageError } from '../service/command-line/command.ts';
import { type ConsentRow as Row, printConsents } from './consents/print-consents.ts';
import { readTarget } from './explain/gather.ts';
import { outputOption } from '../service/command-line/output.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { clusterOptions, cliFieldManager, listPolicies as listRawPolicies, withCluster } from '../service/command-line/policy-client.ts';
import { readContextOf } from './read-context.ts';
import { summaries } from './summaries.ts';
import { fileOption } from '../service/command-line/usual-options.ts';

const maxParallel = 8;

export const consents = defineCommand({
  name: 'consents',
  summary: summaries.consents,
  about: `Lists each pair of a policy's namespace and a workload of another namespace that runs an image of the policy or holds the URL of its chart, and its owners' consent: the annotation ${consentAnnotation} on it, or else its Namespace. Needs get and list of policies, workloads and namespaces, and patch of the workloads to apply.

--apply writes what is missing on the workloads themselves: the namespaces of the policies, never "*". What is answered already is left alone. Whoever may write policies in the namespaces of --from may then change the workloads.

Exit codes: 0 all consent, 1 a consent is missing, 2 wrong usage.`,
  options: {
    from: {
      value: 'NAMESPACES',
      about: 'the namespaces whose policies count, separated by commas, or "*" for all (default, except with --apply)',
    },
    apply: { about: 'write what is missing; needs --from' },
    merge: { about: 'with --apply: add to the lists of workloads that name other namespaces; never to those that refuse all' },
    config: fileOption('the configuration of the service (aliases, consents, customTargets); its defaults unless given'),
    ...clusterOptions,
    ...outputOption,
  },
  examples: [
    ['consents', 'list all pairs, and change nothing'],
    ['consents --from shop --apply', 'write what policies of the namespace shop miss'],
  ],
  async run(values, _args, terminal) {
    const { output } = values;
    if (values.merge && !values.apply) throw new UsageError('--merge is only for --apply');
    const from = readFrom(values.from);
    if (values.apply && from === undefined)
      throw new UsageError(
        '--apply needs --from NAMESPACE[,NAMESPACE], the namespaces of the policies that may change the workloads, or --from "*" for all that are listed without --apply',
      );
    const config = readConfig(processSource(values.config));
    return withCluster(values, terminal, async (client) => {
      const progress = startProgress(terminal, 'listing policies …');
      const onRead = (read: number, all: number) => progress.update(`reading targets: ${read} of ${all}`);
      const { pairs, failures, leftOut } = await findPairs(client, config, { from, onRead }).finally(progress.stop);
      const writing = { isMerging: values.merge ?? false, grants: config.consents };
      const rows = await inspect(pairs, client, writing);
      const results = values.apply ? await write(rows, client, writing) : rows;
      printConsents({ rows: [...results, ...failures], leftOut }, output, terminal);
      return [...results, ...failures].every(({ state }) => state === 'granted' || state === 'written') ? 0 : 1;
    });
  },
});

/** The namespaces that --from names; undefined without the option. */
function readFrom(value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const names = namespacesIn(value);
  const isUnderstood =
    value.trim() === '*' || (names.length > 0 && names.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)));
  if (!isUnderstood) throw new UsageError(`--from is namespaces, separated by commas, or "*" alone, and not "${value}"`);
  return names;
}

/** Policies of a namespace, and a workload of another namespace that runs an image of them, or holds the URL of their chart. */
interface Pair {
  readonly policyNamespace: string;
  readonly policies: readonly string[];
  readonly workload: Workload;
  readonly kind: TargetKind;
  /** One test for each policy: whether the policy selects a workload. */
  readonly needs: readonly ((workload: Workload) => boolean)[];
}

type Inspected = Row & Pick<Pair, 'workload' | 'kind' | 'needs'>;

interface Writing {
  /** Whether namespaces are added to existing lists. */
  readonly isMerging: boolean;
  /** What the configuration grants. */
  readonly grants: readonly ConsentGrant[];
}

/** The pairs of policies and workloads, the targets that could not be read, and the number of pairs whose workload runs no image of the policies. */
async function findPairs(
  client: KubeClient,
  config: Config,
  { from = ['*'], onRead }: { readonly from: readonly string[] | undefined; readonly onRead: (read: number, all: number) => void },
): Promise<{ pairs: Pair[]; failures: Row[]; leftOut: number }> {
  const wanted = (await listPolicies(client, config)).flatMap((policy) => {
    const { spec } = policy;
    if (!isUsable(spec) || !(from.includes('*') || from.includes(policy.namespace))) return [];
    // The source of the chart of an own target may be in another namespace.
    const targets = spec.targets.filter(({ namespace, fields }) => namespace !== policy.namespace || fields?.chart?.source !== undefined);
    return targets.map((target) => ({ policy, spec, target }));
  });
  let read = 0;
  const found = await inParallel(wanted, maxParallel, ({ target }) => {
    onRead(read++, wanted.length);
    return readWithSources(client, target, config.customTargets);
  });
  const aliases = registryAliases(config);
  const pairs = new Map<string, Pair>();
  const unrelated = new Set<string>();
  const failures: Row[] = [];
  for (const [index, { policy, spec, target }] of wanted.entries()) {
    const result = found[index];
    if (result?.status === 'rejected') failures.push(failure(policy, target, result.reason));
    if (result?.status !== 'fulfilled') continue;
    const { own, sources } = result.value;
    const add = (workload: Workload, kind: TargetKind, isNeeded: (workload: Workload) => boolean) => {
      if (workload.namespace === policy.namespace) return;
      const key = `${policy.namespace} ${workloadKey(workload)}`;
      if (!isNeeded(workload)) return unrelated.add(key);
      const known = pairs.get(key);
      const policies = [...new Set([...(known?.policies ?? []), policy.name])];
      pairs.set(key, { policyNamespace: policy.namespace, policies, workload, kind, needs: [...(known?.needs ?? []), isNeeded] });
    };
    const runs = (workload: Workload, known: readonly Workload[]) => {
      const findWorkload = (ref: WorkloadRef) => known.find((one) => workloadKey(one) === workloadKey(ref));
      return matchesTarget(target, workload) && runningImagesOf(target, workload, spec, { aliases, findWorkload }).length > 0;
    };
    const ofSources = sources.flatMap(({ workloads }) => workloads);
    for (const workload of own.workloads) add(workload, own.kind, (one) => runs(one, ofSources));
    for (const { kind, workloads } of sources)
      for (const source of workloads) add(source, kind, (one) => own.workloads.some((workload) => runs(workload, [one])));
  }
  return { pairs: [...pairs.values()], failures, leftOut: [...unrelated].filter((key) => !pairs.has(key)).length };
}

/** What a target selects, and the objects that hold the URLs of its charts. */
async function readWithSources(client: KubeClient, target: PolicyTarget, customTargets: Config['customTargets']) {
  const own = await readTarget(client, target, customTargets);
  const refs = own.workloads.flatMap((workload) => sourceOf(target.fields, workload) ?? []);
  const sources: Awaited<ReturnType<typeof readTarget>>[] = [];
  for (const ref of new Map(refs.map((one) => [workloadKey(one), one])).values())
    sources.push(await readTarget(client, ref, customTargets));
  return { own, sources };
}

async function listPolicies(client: KubeClient, config: Config): Promise<ImagePolicy[]> {
  const policies: ImagePolicy[] = [];
  const context = await readContextOf(config);
  for await (const { items } of listRawPolicies(client, undefined)) policies.push(...items.map((raw) => readPolicy(raw, context)));
  return policies;
}

function failure({ namespace, name }: ImagePolicy, target: PolicyTarget, error: unknown): Row {
  const ref = refOf({ ...target, name: target.name ?? 'by selector' });
  return { policyNamespace: namespace, policies: [name], target: ref, state: 'failed', message: describeError(error) };
}

/** Reads the consent of the owners of each pair. */
async function inspect(pairs: readonly Pair[], client: KubeClient, { isMerging, grants }: Writing): Promise<Inspected[]> {
  const { readNamespaceConsent } = await import('../service/kube/namespaces.ts');
  const names = [...new Set(pairs.map(({ workload }) => workload.namespace))];
  const answers = await inParallel(names, maxParallel, (name) => readNamespaceConsent(client, name));
  const namespaces = new Map(names.map((name, index) => [name, answers[index]]));
  return pairs.map(({ workload, ...pair }): Inspected => {
    const { policyNamespace, policies } = pair;
    const row = { policyNamespace, policies, target: refOf(workload), workload, kind: pair.kind, needs: pair.needs };
    const { allowPoliciesFrom: onTarget } = workload;
    const read = namespaces.get(workload.namespace);
    if (read?.status === 'rejected' && onTarget === undefined) return { ...row, state: 'failed', message: describeError(read.reason) };
    const onNamespace = read?.status === 'fulfilled' ? (read.value?.allowPoliciesFrom ?? null) : null;
    const value = onTarget ?? onNamespace;
    const answer = value === null ? {} : { answer: { on: onTarget === undefined ? ('Namespace' as const) : ('target' as const), value } };
    const isGranted = (onNamespace: string | null) =>
      evaluateConsent({ namespace: policyNamespace }, workload, { onTarget, onNamespace }, 'consent').granted;
    if (isGranted(onNamespace)) return { ...row, ...answer, state: 'granted' };
    if (isGranted(withGrants(onNamespace, workload.namespace, grants)))
      return { ...row, ...answer, state: 'granted', message: 'by consents in the configuration of the service' };
    const mayAdd = value === null || (isMerging && onTarget !== undefined && letsSomebody(onTarget));
    return { ...row, ...answer, state: mayAdd ? 'missing' : 'refused' };
  });
}

/** Writes the missing consent annotations, one patch for each workload. */
async function write(rows: readonly Inspected[], client: KubeClient, writing: Writing): Promise<Row[]> {
  const missing = Map.groupBy(
    rows.filter(({ state }) => state === 'missing'),
    ({ workload }) => workloadKey(workload),
  );
  const groups = [...missing.values()];
  const results = await inParallel(groups, maxParallel, (group) => annotate(group, client, writing));
  const written = results.flatMap((result, index): Row[] => {
    if (result.status === 'fulfilled') return result.value;
    return (groups[index] ?? []).map((row) => ({ ...row, state: 'failed', message: describeError(result.reason) }));
  });
  return [...rows.filter(({ state }) => state !== 'missing'), ...written];
}

/** Patches with the resourceVersion that was read, so that concurrent changes of annotations are not overwritten. */
async function annotate(group: readonly Inspected[], client: KubeClient, writing: Writing): Promise<Row[]> {
  const [{ objectPath }, { readWorkload }, { retryOnConflict }] = await Promise.all([
    import('../service/kube/objects.ts'),
    import('../service/kube/read-workload.ts'),
    import('../service/kube/retry.ts'),
  ]);
  const inspectAgain = async ({ workload, kind }: Inspected): Promise<readonly Inspected[] | undefined> => {
    const read = await readWorkload(client, workload, { target: kind });
    if (read === undefined) return undefined;
    const rows = group.filter(({ needs }) => needs.some((isNeeded) => isNeeded(read)));
    return inspect(
      rows.map((row) => ({ ...row, workload: read })),
      client,
      writing,
    );
  };
  return retryOnConflict(async (conflict) => {
    const [any] = group;
    const current = conflict === undefined || any === undefined ? group : await inspectAgain(any);
    if (current === undefined) throw conflict;
    const open = current.filter(({ state }) => state === 'missing');
    const [first] = open;
    if (first === undefined) return [...current];
    const { workload, kind } = first;
    const value = addNamespaces(
      workload.allowPoliciesFrom,
      open.map(({ policyNamespace }) => policyNamespace),
    );
    if (value.length > maxConsent)
      throw new Error(
        `its annotation would have ${value.length} characters, of which at most ${maxConsent} are read: let its owners write "*"`,
      );
    const path = objectPath(kind, workload.namespace, workload.name);
    const metadata = { resourceVersion: workload.resourceVersion, annotations: { [consentAnnotation]: value } };
    const query = { fieldManager: cliFieldManager };
    await client.request({ method: 'PATCH', path, query, contentType: 'application/merge-patch+json', body: { metadata } });
    return current.map((row) => (row.state === 'missing' ? { ...row, state: 'written', answer: { on: 'target', value } } : row));
  });
}
