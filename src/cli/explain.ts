import { readPolicy } from '../api-versions/read-policy.ts';
import { readConfig, registryAliases, processSource } from '../config.ts';
import { explainPlan, isAllowed, type TargetExplanation } from '../plan/guard-plan.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import {
  formatRepository,
  sameRepository,
  tryParseImageReference,
  type RegistryAliases,
  type Candidate,
} from '../model/image-reference.ts';
import { formatWorkload } from '../model/workload.ts';
import { type Command, parseOptions, parseOutput, UsageError } from './command.ts';
import { propose } from '../reconcile/plan.ts';
import { selectKnown, usableSpec, type Selection } from '../reconcile/selection.ts';
import { namespaceRulesOf } from '../config/policy-defaults.ts';
import { gatherForExplain } from './explain/gather.ts';
import { applyNamespaceRules, describeSettings, settingsOf } from './explain/settings.ts';
import { policyHelp, policyNameOf, policyOptions, withPolicy } from './policy-client.ts';

const options = { ...policyOptions, push: { type: 'string' }, config: { type: 'string' } } as const;

/** `image-watcher explain NS/NAME`. */
export const explain: Command = {
  name: 'explain',
  summary: 'explain why a policy does or does not update its workloads',
  help: `Usage: image-watcher explain NAMESPACE/NAME [--push IMAGE] [--config FILE] [--output text|json]

Tells what would become of every target, and what each guard says of that. Asks only the API server: what the policy
selects is taken from its status. Shows where poll, minAge, windows and rollout come from: the policy, or a default of
its namespace, of the cluster, or built in. Ends with 1 when something is blocked or wrong.

  --push        as if this image had been pushed: harbor.example.com/shop/web:1.4.0, or with its @sha256:…
  --config      the configuration of the service (aliases, crossNamespace, customTargets, guards, policyDefaults, watch);
                its defaults unless given
${policyHelp}`,
  run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const output = parseOutput(values.output);
    const config = readConfig(processSource(values.config));
    const aliases = registryAliases(config);
    const { customTargets } = config;
    const pushed = values.push === undefined ? undefined : readPush(values.push, aliases);
    return withPolicy(policyNameOf(positionals), values, terminal, async ({ client, read }) => {
      const written = readPolicy(await read(), { aliases, customTargets });
      const { policy, why, doubt } = await applyNamespaceRules(client, written, namespaceRulesOf(config));
      if (doubt !== undefined) terminal.err(`${doubt}\n`);
      const selection = why === undefined ? select(policy, pushed) : { why };
      if ('why' in selection) {
        const settings = why === undefined && isUsable(policy.spec) ? policy.spec : undefined;
        const report = { allowed: false, why: selection.why, ...(settings && { settings: settingsOf(settings) }) };
        const lines = [selection.why, ...(settings === undefined ? [] : describeSettings(settings))];
        terminal.out(output === 'json' ? `${JSON.stringify(report)}\n` : `${lines.join('\n')}\n`);
        return 1;
      }
      const { spec, candidate } = selection;
      const { crossNamespace, guards } = config;
      const cluster = await gatherForExplain(client, policy, spec, { crossNamespace, customTargets, aliases, ...guards });
      const { plan, context } = propose(policy, selection, cluster);
      const targets = explainPlan(plan, context);
      const allowed = isAllowed(targets);
      const { note } = spec.strategy;
      const report = { allowed, candidate, settings: settingsOf(spec), targets, ...(note !== undefined && { note }) };
      terminal.out(output === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : textOf(policy, spec, report));
      return allowed ? 0 : 1;
    });
  },
};

function readPush(text: string, aliases: RegistryAliases) {
  const image = tryParseImageReference(text, aliases);
  if (image?.tag === undefined) throw new UsageError(`--push is an image with a tag, not "${text}"`);
  return { ...image, tag: image.tag };
}

/** The image that the guards are asked about, or why it does not come so far. */
function select(policy: ImagePolicy, pushed: ReturnType<typeof readPush> | undefined): Selection | { readonly why: string } {
  const spec = usableSpec(policy);
  if ('kind' in spec) return { why: spec.kind === 'stalled' ? `${spec.reason}: ${spec.message}` : spec.message };
  if (pushed !== undefined && !sameRepository(pushed.repository, spec.repository))
    return { why: `the policy watches ${formatRepository(spec.repository)}, not ${formatRepository(pushed.repository)}` };
  const hint = pushed && { tag: pushed.tag, ...(pushed.digest !== undefined && { digest: pushed.digest }) };
  const selection = selectKnown(policy, spec, hint) ?? { why: notReconciled(policy) };
  return 'kind' in selection ? { why: `not selected: ${selection.message}` } : selection;
}

function notReconciled({ status }: ImagePolicy): string {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined
    ? 'the policy has not been reconciled yet: does image-watcher run?'
    : `nothing is selected: ${ready.reason}: ${ready.message}`;
}

function textOf(
  { namespace, name }: ImagePolicy,
  spec: PolicySpec,
  { allowed, candidate, targets }: { allowed: boolean; candidate: Candidate; targets: readonly TargetExplanation[] },
): string {
  const image = `${candidate.tag}${candidate.digest === undefined ? '' : `@${candidate.digest}`}`;
  const { description, note } = spec.strategy;
  const head = `${namespace}/${name} selects ${description}: ${image}${note === undefined ? '' : `\n${note}`}`;
  const end = allowed ? 'nothing is in the way' : 'something is in the way';
  return `${[head, ...describeSettings(spec), ...targets.flatMap(linesOf), end].join('\n')}\n`;
}

function linesOf({ target, changes, unchanged, problem, guards }: TargetExplanation): string[] {
  return [
    formatWorkload(target),
    ...(problem === undefined ? [] : [`  ${problem.reason}: ${problem.message}`]),
    ...unchanged.map(({ container, image, reason, message }) => `  ${container} stays at ${image}: ${reason}: ${message}`),
    ...changes.map(({ container, from, to }) => `  ${container} would be changed from ${from} to ${to}`),
    ...guards.map(
      ({ guard, result, reason, message }) => `    ${guard.padEnd(16)} ${result === 'pass' ? 'pass' : `${result}: ${reason}: ${message}`}`,
    ),
  ];
}
