import { toSeconds } from '../core/model/text.ts';
import { isTag } from '../core/model/image-reference.ts';
import { describeError } from '../core/model/errors.ts';
import { compilePattern } from '../core/model/pattern.ts';
import { defined } from '../core/model/defined.ts';
import { instantParam } from '../service/api/route.ts';
import { apiOptions } from '../service/command-line/api-client.ts';
import { defineCommand, type Terminal, type Values } from '../service/command-line/command.ts';
import { outputOption, print } from '../service/command-line/output.ts';
import { policyArgument, policyOptions, withCluster } from '../service/command-line/policy-client.ts';
import { readPolicyName } from '../service/command-line/policy-name.ts';
import { registryOptions } from '../service/command-line/user-registry.ts';
import { asUsage, UsageError } from '../service/command-line/usage-error.ts';
import { fileOption } from '../service/command-line/usual-options.ts';
import { ConfigError } from '../service/config/config-error.ts';
import { processSource } from '../service/config/environment.ts';
import { type Config, readConfig } from '../service/config/settings.ts';
import { assume } from './backtest/assume.ts';
import { formatSummary } from './backtest/format-summary.ts';
import { play } from './backtest/play.ts';
import { readOffline, type UsablePolicy, withUsualSettings } from './backtest/read-offline.ts';
import { readSources } from './backtest/read-sources.ts';
import { summarise } from './backtest/summarise.ts';
import { readPolicyFiles } from './once/read-files.ts';
import { readContextOf } from './read-context.ts';
import { summaries } from './summaries.ts';

const dayMs = 86_400_000;
const maxDays = 366;
const failed = 2;

const options = {
  days: { value: 'NUMBER', about: `how many days back, up to ${maxDays} (default 90)` },
  until: { value: 'TIME', about: 'the end of the period: 2026-03-01T12:00:00Z (default: now, or the last push of --history)' },
  runs: {
    value: 'TAG',
    about: 'the tag that ran at the beginning (default: the one that the policy selects then, or else the first one that it can select)',
  },
  file: { short: 'f', value: 'FILE', completes: 'file', about: 'the policy from a file, instead of that of the cluster' },
  history: fileOption('the images from a file, offline: images: [{tag, at, …}]; without it, they are read from the registry'),
  events: { about: 'also read the pushes that the running service has recorded: their times are exact' },
  approved: { about: 'take each image that waits for approval as approved at once' },
  never: { value: 'PATTERN', about: 'fail if a tag that this pattern (RE2) matches somewhere ever ran: "feature"' },
  ...policyOptions,
  ...apiOptions,
  ...registryOptions,
  ...outputOption,
} as const;

export const backtest = defineCommand({
  name: 'backtest',
  summary: summaries.backtest,
  about: `Shows what a policy would have done: plays the images of the past, each at its time, on a clock of its own, with the code of the service. By day, it shows which image ran, and what held others. Changes nothing.

From the first day on, the image runs that the policy selects among those pushed before; if there is none, the first one that it can select is taken as running already, although it was pushed later. --runs names another one.

Signatures, checks and rollouts count as good. Policies that follow others (select.proven, update.after) cannot be played.

Exit codes: 0 done, 1 a tag ran that --never names, 2 wrong usage, or something cannot be read.`,
  arguments: [{ name: 'POLICY', about: policyArgument.about, completes: 'policy' }],
  options,
  examples: [
    ['backtest shop/web --days 30', 'the images of the registry'],
    ['backtest -f web.yaml --history past.yaml --never feature', 'offline; fails if it ever picked a feature branch'],
  ],
  run(values, [named], terminal) {
    if ((named === undefined) === (values.file === undefined)) throw new UsageError('name a policy of the cluster, or give its --file');
    const { never, runs } = values;
    const isForbidden = never === undefined ? undefined : asUsage('--never', () => compilePattern(never));
    if (runs !== undefined && !isTag(runs)) throw new UsageError(`--runs is a tag, not "${runs}"`);
    const config = readConfig(processSource(values.config));
    if (values.history !== undefined && values.events) throw new UsageError('--events goes without --history');
    const period = readPeriod(values);
    const act = async (policy: UsablePolicy) => {
      const past = await readSources(policy, { ...values, config, terminal });
      const to = period.to ?? (values.history === undefined ? Date.now() : (past.images.at(-1)?.pushedAt ?? Date.now()));
      const from = to - period.days * dayMs;
      const assumed = assume(policy, policy.spec, values.approved === true);
      const { signal = new AbortController().signal } = terminal;
      const summary = summarise(await play(assumed.policy, past.images, { from, to, runs, ...config.guards }, signal));
      const forbidden = isForbidden === undefined ? [] : summary.ran.filter((tag) => isForbidden.isFoundIn(tag));
      const shown = {
        policy: `${policy.namespace}/${policy.name}`,
        from: toSeconds(new Date(from)),
        to: toSeconds(new Date(to)),
        notes: [...past.notes, ...assumed.assumptions],
        forbidden,
      };
      print(terminal, values.output, { ...shown, ...summary }, () => formatSummary(summary, shown, terminal));
      return forbidden.length > 0 ? 1 : 0;
    };
    return unlessUnreadable(terminal, () => withPolicyOf(values, { named, config, terminal }, act));
  },
});

/** Says what cannot be read or played, with an exit code of its own: the code 1 says that a tag of --never ran. */
async function unlessUnreadable(terminal: Terminal, act: () => Promise<number>): Promise<number> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof UsageError || error instanceof ConfigError || terminal.signal?.aborted === true) throw error;
    terminal.err(`${describeError(error)}\n`);
    return failed;
  }
}

type Given = Values<typeof options>;

function readPeriod({ days = '90', until }: Given): { readonly days: number; readonly to?: number } {
  const count = Number(days);
  if (!Number.isInteger(count) || count < 1 || count > maxDays) throw new UsageError(`--days is a number from 1 to ${maxDays}`);
  const to = until === undefined ? undefined : instantParam.safeParse(until).data;
  if (until !== undefined && to === undefined) throw new UsageError(`--until is a time such as 2026-03-01T12:00:00Z, not "${until}"`);
  return { days: count, ...defined({ to }) };
}

interface Wanted {
  readonly named: string | undefined;
  readonly config: Config;
  readonly terminal: Terminal;
}

/** Calls `act` with the policy of the file, or with that of the cluster. */
async function withPolicyOf(
  { file, ...values }: Given,
  { named, config, terminal }: Wanted,
  act: (policy: UsablePolicy) => Promise<number>,
): Promise<number> {
  if (file !== undefined) {
    const documents = await readPolicyFiles([file], config, terminal);
    if (documents === 'invalid') return failed;
    const [document] = documents;
    if (document === undefined || documents.length > 1)
      throw new UsageError(`${file} has ${documents.length} ImagePolicies: give a file with one`);
    return act(await readOffline(document, config, values.namespace));
  }
  const name = readPolicyName(named ?? '', values.namespace);
  return withCluster(
    values,
    terminal,
    async (client) => {
      const [{ readStored }, { readPolicy }] = await Promise.all([
        import('./once/given-policies.ts'),
        import('../service/resources/read-policy.ts'),
      ]);
      const [given] = await readStored(client, [name], undefined);
      return act(withUsualSettings(readPolicy(given?.raw, await readContextOf(config)), config));
    },
    failed,
  );
}
