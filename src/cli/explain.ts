import { readConfig, registryAliases, processSource } from '../config.ts';
import { isAllowed, type TargetExplanation } from '../plan/guard-plan.ts';
import { tryParseImageReference, type RegistryAliases } from '../model/image-reference.ts';
import { formatWorkload } from '../model/workload.ts';
import { defineCommand, type Options, UsageError } from './command.ts';
import { explainBase } from './explain/base.ts';
import { describeSettings, settingsOf } from './explain/settings.ts';
import { isUsable } from '../model/image-policy.ts';
import { describePush, nameOf, type Planned, unknownOf } from './explain/conclude.ts';
import { describePending, planNow, type Pushed } from './explain/plan-now.ts';
import { fit, outputOption, print, printable } from './output.ts';
import { anyPolicyArgument, policyOptions, withAnyPolicy } from './policy-client.ts';
import { reasonLinks } from './reason-links.ts';

/** `--config` of the commands that decide as the service would. */
export const configOption = {
  config: {
    value: 'FILE',
    completes: 'file',
    about:
      'the configuration of the service (aliases, crossNamespace, customTargets, guards, policyDefaults, watch); its defaults unless given',
  },
} as const satisfies Options;

/** `image-watcher explain`. */
export const explain = defineCommand({
  name: 'explain',
  summary: 'explain why a policy does or does not update its workloads',
  about: `Shows what would become of every target, and what each guard decides about it, and where poll, minAge, windows and rollout come from: the policy, or a default of its namespace, of the cluster, or built in. Asks only the API server: what the policy selects is taken from its status.

Of a BaseImagePolicy (bipol/NAME) it shows each image of its status: the base that it is built on, since when it is behind, what is done about it, and why not.

Exit codes: 0 nothing is blocked or wrong, 1 something is, 2 wrong usage.`,
  arguments: [anyPolicyArgument],
  options: {
    push: { value: 'IMAGE', about: 'as if this image had been pushed: harbor.example.com/shop/web:1.4.0, or with its @sha256:…' },
    ...configOption,
    ...policyOptions,
    ...outputOption,
  },
  examples: [
    ['explain web', "the policy web of the kubeconfig's namespace"],
    ['explain shop/web --push harbor.example.com/shop/web:1.4.0', 'what a push would do'],
    ['explain -n platform bipol/java', 'which images are behind the base of a BaseImagePolicy, and why'],
  ],
  run({ output, push, config: file, ...values }, [text], terminal) {
    const config = readConfig(processSource(file));
    const pushed = push === undefined ? undefined : readPush(push, registryAliases(config));
    return withAnyPolicy(text, values, terminal, async (policy) => {
      if (policy.isBase) {
        if (pushed !== undefined) throw new UsageError('--push is for ImagePolicies: which images a base has is known when it is pushed');
        return explainBase(policy, output, terminal);
      }
      const { client, read } = policy;
      const planned = await planNow(client, await read(), config, pushed);
      if (planned.doubt !== undefined) terminal.err(`${planned.doubt}\n`);
      if ('why' in planned) {
        const { policy, why, reason, isSelected } = planned;
        const settings = isSelected && isUsable(policy.spec) ? policy.spec : undefined;
        const head = pushed === undefined ? why : `a push of ${nameOf(pushed)} would change nothing: ${why}`;
        const report = { allowed: false, summary: head, why, ...(settings && { settings: settingsOf(settings) }) };
        const lines = [head, ...(settings === undefined ? [] : describeSettings(settings))];
        print(terminal, output, report, () =>
          fit(`${[...lines.map((line) => printable(line)), ...reasonLinks([reason])].join('\n')}\n`, terminal),
        );
        return 1;
      }
      const { candidate, targets, spec, pending } = planned;
      const unknown = pushed && unknownOf(planned, pushed);
      const allowed = isAllowed(targets) && pending === undefined && unknown === undefined;
      const { note } = spec.strategy;
      const { head, remarks } = summarise(planned, pushed);
      const report = {
        allowed,
        summary: head,
        candidate,
        settings: settingsOf(spec),
        targets,
        ...(pending && { pending }),
        ...(note !== undefined && { note }),
      };
      print(terminal, output, report, () =>
        fit(textOf(planned, { lines: [head, ...remarks], end: allowed ? endOf(planned) : 'something is in the way' }), terminal),
      );
      return allowed ? 0 : 1;
    });
  },
});

function readPush(text: string, aliases: RegistryAliases): Pushed {
  const image = tryParseImageReference(text, aliases);
  if (image?.tag === undefined) throw new UsageError(`--push is an image with a tag, not "${text}"`);
  return { ...image, tag: image.tag };
}

/** What the policy selects or the push would do, and what has to be known besides. */
function summarise(planned: Planned, pushed: Pushed | undefined): { readonly head: string; readonly remarks: readonly string[] } {
  const { policy, spec, candidate, pending, targets } = planned;
  const { description, note } = spec.strategy;
  const notes = note === undefined ? [] : [note];
  if (pushed === undefined) {
    const head = `${policy.namespace}/${policy.name} selects ${description}: ${nameOf(candidate)}`;
    return { head, remarks: [...(pending === undefined ? [] : [`MinAge: ${describePending(pending)}`]), ...notes] };
  }
  const isRunning =
    targets.some(({ unchanged }) => unchanged.some(({ reason }) => reason === 'UpToDate')) && unknownOf(planned, pushed) === undefined;
  const unasked = 'whether the registry has it is not known: explain asks only the API server';
  return { head: describePush(planned, pushed), remarks: [...(isRunning ? [] : [unasked]), ...notes] };
}

function endOf({ targets }: Planned): string {
  return targets.some(({ changes }) => changes.length > 0) ? 'nothing is in the way' : 'nothing would be changed';
}

function textOf(
  { spec, targets, pending }: Planned,
  { lines: first, end }: { readonly lines: readonly string[]; readonly end: string },
): string {
  const found = targets.flatMap(({ problem, unchanged, guards }) => [
    problem?.reason,
    ...unchanged.map(({ reason }) => reason),
    ...guards.filter(({ result }) => result !== 'pass').map(({ reason }) => reason),
  ]);
  const lines = [...first, ...describeSettings(spec), ...targets.flatMap(linesOf)];
  return `${[...lines.map((line) => printable(line)), end, ...reasonLinks([...found, pending?.reason])].join('\n')}\n`;
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
