import { defined } from '../core/model/defined.ts';
import { readConfig, registryAliases } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import { tryParseImageReference, type RegistryAliases } from '../core/model/image-reference.ts';
import { formatWorkload } from '../core/model/workload.ts';
import { defineCommand, type Options, UsageError } from '../service/command-line/command.ts';
import { explainBase } from './explain/base.ts';
import { environmentTable, readEnvironments } from './explain/environments.ts';
import { lineOf } from './explain/step-line.ts';
import { unknownOf } from '../service/explain/conclude.ts';
import type { PlannedNow, Pushed } from '../service/explain/plan-now.ts';
import { settingsOf } from '../service/explain/settings.ts';
import { explainPlanned, type Explanation } from '../service/explain/steps.ts';
import { planPolicy } from './explain/plan-policy.ts';
import { isUsable } from '../core/model/image-policy.ts';
import { fit, outputOption, print } from '../service/command-line/output.ts';
import { printable } from '../service/command-line/printable.ts';
import { anyPolicyArgument, policyOptions, withAnyPolicy } from '../service/command-line/policy-client.ts';
import { readContextOf } from './read-context.ts';
import { reasonLinks } from './reason-links.ts';
import { summaries } from './summaries.ts';
import { fileOption } from '../service/command-line/usual-options.ts';

/** The option `--config` of the commands that decide as the service would. */
export const configOption = {
  config: fileOption(
    'the configuration of the service (aliases, consents, crossNamespace, customTargets, guards, policyDefaults, watch); its defaults unless given',
  ),
} as const satisfies Options;

export const explain = defineCommand({
  name: 'explain',
  summary: summaries.explain,
  about: `Shows what the service would do, step by step: ✓ nothing is in the way, ✗ it stops here, … it waits, · decides nothing. Settings show where they come from: the policy, or a default of its namespace, of the cluster, or built in. Asks only the API server: what the policy selects, and how its last reconcile ended, is taken from its status.

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
        return explainBase(policy, { output, config }, terminal);
      }
      const { client, read } = policy;
      const planned = await planPolicy(client, await read(), config, pushed);
      if (planned.doubt !== undefined) terminal.err(`${planned.doubt}\n`);
      const explanation = explainPlanned(planned, pushed);
      const environments = await readEnvironments(client, planned.policy, await readContextOf(config));
      const { spec } = planned.policy;
      const note = isUsable(spec) ? spec.strategy.note : undefined;
      const report = {
        ...explanation,
        ...('why' in planned && { why: planned.why }),
        ...(isUsable(spec) && (!('why' in planned) || planned.isSelected) && { settings: settingsOf(spec) }),
        ...(!('why' in planned) && { targets: planned.targets, chains: explanation.targets }),
        ...('pending' in planned && { pending: planned.pending }),
        ...defined({ note, environments }),
      };
      print(terminal, output, report, () => {
        const text = fit(textOf(explanation, remarksOf(planned, pushed)), terminal);
        return environments === undefined ? text : `${text}${environmentTable(environments, new Date())}`;
      });
      return explanation.allowed ? 0 : 1;
    });
  },
});

function readPush(text: string, aliases: RegistryAliases): Pushed {
  const image = tryParseImageReference(text, aliases);
  if (image?.tag === undefined) throw new UsageError(`--push is an image with a tag, not "${text}"`);
  return { ...image, tag: image.tag };
}

/** Remarks on a plan that its steps do not contain. */
function remarksOf(planned: PlannedNow, pushed: Pushed | undefined): readonly string[] {
  if ('why' in planned) return [];
  const { note } = planned.spec.strategy;
  const isRunning =
    planned.targets.some(({ unchanged }) => unchanged.some(({ reason }) => reason === 'UpToDate')) &&
    (pushed === undefined || unknownOf(planned, pushed) === undefined);
  const unasked = 'whether the registry has it is not known: explain asks only the API server';
  return [...(pushed === undefined || isRunning ? [] : [unasked]), ...(note === undefined ? [] : [note])];
}

function textOf({ allowed, summary, steps, targets }: Explanation, remarks: readonly string[]): string {
  const all = targets.flatMap((target) => target.steps);
  const changes = all.some(({ id, result, text }) => id === 'container' && result === 'pass' && text.includes(' would be changed '));
  const end = allowed ? (changes ? 'nothing is in the way' : 'nothing would be changed') : 'something is in the way';
  const lines = [
    summary,
    ...remarks,
    ...steps.map((step) => lineOf(step, 2)),
    ...targets.flatMap(({ target, steps: own }) => [formatWorkload(target), ...own.map((step) => lineOf(step, 4))]),
  ];
  return `${[...lines.map((line) => printable(line)), end, ...reasonLinks([...steps, ...all].map(({ reason }) => reason))].join('\n')}\n`;
}
