import { kind } from '../../service/resources/group.ts';
import { apiVersion } from '../../service/resources/v1.ts';
import { policiesAlone } from '../../service/resources/resource-group.ts';
import { validatePolicy } from '../../service/resources/validate.ts';
import { isSameJson } from '../../core/model/untyped.ts';
import { formatPolicies, freeName, type WrittenPolicy } from '../../service/command-line/policy-documents.ts';
import type { Draft, Imported, Skipped } from './importer.ts';

const maxTargets = 64;

/** One policy for all targets of a namespace with the same spec. All policies are valid: a draft that would be invalid is skipped with its problems. */
export function policiesOf(drafts: readonly Draft[]): Pick<Imported, 'policies' | 'skipped'> {
  const skipped: Skipped[] = [];
  const isValid = ({ policy }: WrittenPolicy): boolean => {
    const problems = validatePolicy(policy, policiesAlone).map(({ path, message }) => `${path} ${message}`);
    const { namespace } = policy.metadata;
    if (problems.length > 0)
      for (const { kind, name = '', namespace: own = namespace } of policy.spec.targets)
        skipped.push({ object: `${kind} ${own}/${name}`, problem: problems.join('; ') });
    return problems.length === 0;
  };
  // Drafts are checked separately, so that an invalid one does not exclude the others.
  const valid = drafts.filter((draft) => mergeDrafts([draft]).every(isValid));
  return { policies: mergeDrafts(valid).filter(isValid), skipped };
}

/** Merges drafts with the same name and spec; names of policies are unique in each namespace. */
function mergeDrafts(drafts: readonly Draft[]): WrittenPolicy[] {
  const groups = new Map<string, [Draft, ...Draft[]][]>();
  for (const draft of drafts) {
    const key = JSON.stringify([draft.namespace, draft.name, draft.spec]);
    const parts = groups.get(key) ?? [];
    if (parts.flat().some(({ target }) => isSameJson(target, draft.target))) continue;
    const last = parts.at(-1);
    if (last && last.length < maxTargets) last.push(draft);
    else parts.push([draft]);
    groups.set(key, parts);
  }
  const taken = new Set<string>();
  return [...groups.values()].flat().map((group) => {
    const [{ namespace, spec }] = group;
    const name = nameOf(group, taken);
    return {
      policy: { apiVersion, kind, metadata: { name, namespace }, spec: { ...spec, targets: group.map(({ target }) => target) } },
      notes: [...new Set(group.flatMap(({ notes }) => notes))],
    };
  });
}

/** The name of the workload, or of the repository if there are several workloads. It is extended if it is taken. */
function nameOf([{ namespace, spec, target, name }, ...others]: readonly [Draft, ...Draft[]], taken: Set<string>): string {
  const repository = spec.image.split('/').at(-1) ?? '';
  const own = name ?? (others.length === 0 ? (target.name ?? repository) : repository);
  return freeName(namespace, own === repository ? [own] : [own, `${own}-${repository}`], taken);
}

/** YAML for `kubectl apply`: general remarks and skipped objects as comments, then each policy after its notes. */
export function formatImport({ policies, skipped, remarks }: Imported): string {
  return formatPolicies(policies, [...remarks, ...skipped.map(({ object, problem }) => `Not carried over: ${object}: ${problem}`)]);
}
