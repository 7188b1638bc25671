/** Rules that are broken on purpose, one line each: what the simulation does not notice here, it would not notice in a change by mistake either. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runSeeds } from './seeds.ts';

/** A rule, and how it is broken. */
export interface Mutation {
  readonly rule: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Every mutation, in a list. */
export const mutations: readonly Mutation[] = [
  {
    rule: 'a patch tests the object and the state that it was planned for',
    file: 'src/service/kube/patch-images.ts',
    from: '    ...testState(workload),\n',
    to: '',
  },
  {
    rule: 'an answer of the registry from before is not used once something else runs',
    file: 'src/service/reconcile/registry-memory.ts',
    from: 'known.running.get(policy) === running() ? known.answer',
    to: 'known.running.has(policy) ? known.answer',
  },
  {
    rule: 'a failed rollout goes back past an image that never worked',
    file: 'src/core/rollout/last-good.ts',
    from: 'earlier.to !== whole.from ||',
    to: 'earlier.to === whole.from ||',
  },
  {
    rule: 'a policy is confirmed before a patch: a watch that is silent is not believed',
    file: 'src/service/cluster/check-policy.ts',
    from: 'quietMs < confirmedForMs ? calledAt - quietMs : await abortable(readOnce(policy), signal)',
    to: 'calledAt',
  },
  {
    rule: 'times of changes of one container are in their order',
    file: 'src/core/model/last-update.ts',
    from: 'new Date(before + 1) : now',
    to: 'now : now',
  },
  {
    rule: 'a history is completed from what workloads record',
    file: 'src/core/status/next-status.ts',
    from: 'if (snapshot === undefined) return {};',
    to: 'if (snapshot !== undefined) return {};',
  },
  {
    rule: 'a manual change is held',
    file: 'src/core/plan/guards/held.ts',
    from: "by === 'human' &&",
    to: "by !== 'human' &&",
  },
  {
    rule: 'a paused workload is left alone',
    file: 'src/core/plan/guards/index.ts',
    from: '  paused,\n',
    to: '',
  },
  {
    rule: 'a change needs approval where the policy says so',
    file: 'src/core/plan/guards/index.ts',
    from: '  approval,\n',
    to: '',
  },
  {
    rule: 'a rejected image is not applied again',
    file: 'src/core/plan/guards/index.ts',
    from: '  rejected,\n',
    to: '',
  },
  {
    rule: 'a workload of another namespace needs consent',
    file: 'src/core/plan/consent.ts',
    from: 'isLegacy } : { granted: false }',
    to: 'isLegacy } : { granted: true }',
  },
  {
    rule: 'an older tag does not replace a newer one',
    file: 'src/core/select/select-tag.ts',
    from: 'if (rank !== 0) return rank > 0;',
    to: 'if (rank !== 0) return true;',
  },
  {
    rule: 'the status is written against the version that it was made from',
    file: 'src/service/kube/patch-status.ts',
    from: 'metadata: { resourceVersion: known.resourceVersion }, ',
    to: '',
  },
  {
    rule: 'a failed job is tried again',
    file: 'src/service/reconcile/process-policy.ts',
    from: '    throw error;\n',
    to: '    return { kind: "stalled", reason: "Retrying", message: "" };\n',
  },
  {
    rule: 'a job waits by the clock of the process that asked for it',
    file: 'src/service/queue/waits.ts',
    from: '      ends.set(keyOf(job), performance.now() + waitMs);\n',
    to: '',
  },
  {
    rule: 'a base policy is confirmed before each act',
    file: 'src/bases/policies/brake.ts',
    from: '(await basePolicies.isAsPlanned(policy, base, signal))',
    to: '(await Promise.resolve(true))',
  },
  {
    rule: 'a suspended base policy is not reconciled',
    file: 'src/bases/policies/reconcile-base.ts',
    from: '  if (spec.base.suspended) return suspended(policy);\n',
    to: '',
  },
  {
    rule: 'a replica asks for the base that another one has selected',
    file: 'src/bases/policies/select-base.ts',
    from: 'latest === undefined || latest.digest === best.digest ||',
    to: 'latest === undefined || latest.digest !== "" ||',
  },
  {
    rule: 'a restart is not repeated for the same image',
    file: 'src/bases/policies/examine-restarts.ts',
    from: 'const isOurs = pods',
    to: 'const isOurs = pods.uid === "" && pods',
  },
  {
    rule: 'canaries come before all others',
    file: 'src/core/plan/next-wave.ts',
    from: 'canaries.length > 0 ? canaries : others',
    to: 'canaries.length > 99 ? canaries : others',
  },
  {
    rule: 'a request to a registry that failed gives its slot back',
    file: 'src/service/registry/http.ts',
    from: '    slot.release(isFailure ?',
    to: '    if (!isFailure) slot.release(isFailure ?',
  },
  {
    rule: 'a policy for charts selects nothing else',
    file: 'src/core/model/artifact.ts',
    from: '    ...(chart !== undefined && { Chart: chart }),\n',
    to: '',
  },
  {
    rule: 'a policy for images selects no chart',
    file: 'src/core/model/artifact.ts',
    from: '    ...(image !== undefined && { Image: image }),\n',
    to: '',
  },
  {
    rule: 'a version of a chart is written only beside the repository of the policy',
    file: 'src/core/plan/plan-fields.ts',
    from: 'return reference !== undefined && sameRepository(reference.repository, spec.repository) ? reference : undefined;',
    to: 'return reference;',
  },
  {
    rule: 'an upgrade that has failed is rolled back',
    file: 'src/core/rollout/evaluate-installation.ts',
    from: "if (state === 'failed' && !isOlder)",
    to: "if (state === 'failed' && isOlder)",
  },
  {
    rule: 'an image is not proven before its time is over',
    file: 'src/core/plan/proven.ts',
    from: 'if (!(until.getTime() > at.getTime()))',
    to: 'if (until.getTime() > 0)',
  },
  {
    rule: 'only an image that fixes something skips a wait',
    file: 'src/core/plan/security-rules.ts',
    from: 'if (fixes.length > 0) return { holds: true,',
    to: 'if (fixes.length >= 0) return { holds: true,',
  },
  {
    rule: 'an image with more vulnerabilities does not replace one with fewer',
    file: 'src/core/plan/guards/index.ts',
    from: '  vulnerabilities,\n',
    to: '',
  },
  {
    rule: 'an image waits for its companions',
    file: 'src/core/plan/guards/index.ts',
    from: '  companions,\n',
    to: '',
  },
  {
    rule: 'nothing is changed before its checks have passed',
    file: 'src/core/plan/guards/index.ts',
    from: '  checks,\n',
    to: '',
  },
  {
    rule: 'a verdict of a check is never replaced',
    file: 'src/core/plan/record-answer.ts',
    from: "record.state !== 'Running' || ",
    to: '',
  },
  {
    rule: 'what a check has failed is a failed rollout',
    file: 'src/core/rollout/evaluate-change.ts',
    from: "const bad = found.find(({ record }) => record?.state === 'Failed') ??",
    to: 'const bad =',
  },
];

/** What became of a mutation: the seed that shows it, if one does. */
export interface MutationResult {
  readonly mutation: Mutation;
  readonly seed: number | undefined;
  readonly invariant: string | undefined;
  readonly seeds: number;
}

/** Breaks one rule in a copy of the source, and runs seeds until one fails. */
export async function tryMutation(mutation: Mutation, root: string, seeds: number): Promise<MutationResult> {
  const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
  try {
    for (const folder of ['src', 'test/simulation', 'test/harness']) cpSync(join(root, folder), join(copy, folder), { recursive: true });
    for (const file of ['package.json', 'tsconfig.json']) cpSync(join(root, file), join(copy, file));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const path = join(copy, mutation.file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(mutation.from))
      throw new Error(`${mutation.file} has no "${mutation.from}" any more: correct the mutation "${mutation.rule}"`);
    writeFileSync(path, text.replace(mutation.from, mutation.to));
    let found: { readonly seed: number; readonly invariant: string } | undefined;
    let count = 0;
    await runSeeds({
      first: 1,
      count: seeds,
      withPeople: true,
      worker: pathToFileURL(join(copy, 'test/simulation/seed-worker.ts')),
      isEnough: () => found !== undefined,
      onResult({ seed, violations: [violation] }) {
        count++;
        if (violation !== undefined) found ??= { seed, invariant: violation.invariant };
      },
    });
    return { mutation, seed: found?.seed, invariant: found?.invariant, seeds: count };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
