import { randomUUID } from 'node:crypto';
import { defined } from '../../core/model/defined.ts';
import { formatKeys } from '../../service/resources/validation/problem.ts';
import { readConfig, readNotificationTargets, readProxies } from '../../service/config/settings.ts';
import { processSource } from '../../service/config/environment.ts';
import { deliver } from '../deliver.ts';
import { sendMail } from '../send-mail.ts';
import { exchange, type SendResult } from '../../service/proxy/exchange.ts';
import type { Outbound } from '../../service/proxy/outbound.ts';
import { defineCommand, defineGroup, paintFor, type Terminal, UsageError } from '../../service/command-line/command.ts';
import { fit, outputOption, print } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { summaries } from './summaries.ts';
import { fileOption } from '../../service/command-line/usual-options.ts';

/** The result of the test message for one target. */
interface Tested {
  readonly target: string;
  readonly kind: string;
  readonly ok: boolean;
  readonly message: string;
  readonly action?: string;
}

const testCommand = defineCommand({
  name: 'notify test',
  summary: summaries.notify,
  about: `Sends a test message to the targets in the configuration (all of them, or those that are named), directly and once: neither Redis nor a cluster is necessary. It reads the configuration and the secrets of the targets where it runs; run it in a pod of the service to see what the service can reach.

Exit codes: 0 all targets accepted the message, 1 one did not, 2 wrong usage or configuration.`,
  arguments: [{ name: 'TARGET', about: 'the name of a target', multiple: true }],
  options: {
    config: fileOption('the configuration file or folder of the service (also IMAGE_WATCHER_CONFIG)'),
    ...outputOption,
  },
  examples: [
    ['notify test --config config.yaml', 'all targets'],
    ['notify test ops --config config.yaml -o json', 'one target, for programs'],
  ],
  async run({ config, output }, names, terminal) {
    const source = processSource(config);
    const all = readNotificationTargets(source);
    const unknown = names.find((name) => all.every(({ target }) => target.name !== name));
    if (unknown !== undefined) {
      const known = all.map(({ target }) => target.name).join(', ');
      throw new UsageError(`the configuration has no target "${unknown}"; its targets are: ${known || 'none'}`);
    }
    const chosen = all.filter(({ target }) => names.length === 0 || names.includes(target.name));
    if (chosen.length === 0) throw new UsageError('the configuration has no targets: add some to notifications.targets');
    const signal = terminal.signal ?? new AbortController().signal;
    // Imported only here, so that the help does not wait for the HTTP client.
    const { openOutbound } = await import('../../service/proxy/outbound.ts');
    const outbound = openOutbound(readProxies(readConfig(source), source));
    const results = await Promise.all(chosen.map((one) => testTarget(one, outbound, signal)));
    await outbound.close();
    const isOk = results.every(({ ok }) => ok);
    print(terminal, output, { ok: isOk, targets: results }, () => results.map((one) => describe(one, results, terminal)).join(''));
    return isOk ? 0 : 1;
  },
});

export const notify = defineGroup({
  name: 'notify',
  summary: 'send a test message to the targets of notifications',
  about: 'Tests where notifications are sent.',
  commands: [testCommand],
});

async function testTarget(
  { target, problems }: ReturnType<typeof readNotificationTargets>[number],
  { fetch }: Outbound,
  signal: AbortSignal,
): Promise<Tested> {
  const { name, kind } = target;
  const [problem] = problems;
  if (problem !== undefined)
    return {
      target: name,
      kind,
      ok: false,
      message: `${formatKeys(problem.keys)}: ${problem.message}`,
      action: 'set it where this command runs',
    };
  const result = await deliver(
    target,
    { type: 'test', target: name, at: new Date().toISOString() },
    {
      id: randomUUID(),
      now: Date.now,
      signal,
      exchange: (url, request, more) => exchange(url, request, { ...more, fetch, now: Date.now }),
      mail: sendMail,
    },
  );
  const action = actionOf(result);
  return { target: name, kind, ok: result.kind === 'sent', message: result.message, ...defined({ action }) };
}

function actionOf(result: SendResult): string | undefined {
  if (result.kind === 'sent') return undefined;
  if (result.kind === 'failed' && result.until !== undefined) return `try again after ${result.until.toISOString()}`;
  return result.action;
}

function describe({ target, kind, ok, message, action }: Tested, all: readonly Tested[], terminal: Terminal): string {
  const widthOf = (key: 'target' | 'kind') => Math.max(...all.map((one) => one[key].length));
  const start = `${target.padEnd(widthOf('target'))}  ${kind.padEnd(widthOf('kind'))}  `;
  const [mark, colour] = ok ? (['✓', 'green'] as const) : (['✗', 'red'] as const);
  const line = fit(`${mark} ${start}${printable(message)}`, terminal, ' '.repeat(start.length + 2));
  const todo = action === undefined ? '' : `${fit(`    → ${printable(action)}`, terminal)}\n`;
  return `${paintFor(terminal)(colour, mark)}${line.slice(mark.length)}\n${todo}`;
}
