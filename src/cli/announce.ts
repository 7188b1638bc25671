import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDuration } from '../core/model/text.ts';
import { tryParseImageReference } from '../core/model/image-reference.ts';
import { openFetch } from '../service/command-line/ask-service.ts';
import { defineCommand, type Terminal, UsageError, type Values } from '../service/command-line/command.ts';
import { outputOption, print } from '../service/command-line/output.ts';
import { printable } from '../service/command-line/printable.ts';
import { fileOption } from '../service/command-line/usual-options.ts';
import { processSource } from '../service/config/environment.ts';
import { describeReadError } from '../service/config/read-error.ts';
import { AnnounceError, announceImage, type Announcer, askReport } from './announce/sender.ts';
import { follow } from './announce/follow.ts';
import { summaries } from './summaries.ts';

const options = {
  to: { value: 'URL', about: 'the receiver, of the provider generic: https://hooks.example.com/webhooks/ci' },
  'secret-env': {
    value: 'NAME',
    about: 'the environment variable with the secret of the receiver, or with an OIDC token (default WEBHOOK_SECRET)',
  },
  'secret-file': fileOption('a file with the secret or the token, instead'),
  id: { value: 'ID', about: 'the id of the push: the same id again is the same push (default: a random one)' },
  wait: { about: 'wait until the image runs, and fail with the reason if it does not' },
  until: {
    value: 'STATE',
    choices: ['rolledOut', 'changed'],
    about: 'with --wait: until its rollout is complete (rolledOut, the default), or until workloads are changed',
  },
  timeout: { value: 'DURATION', about: 'with --wait: how long, at most (default 15m)' },
  insecure: { about: 'send the secret to a URL with http, where anybody may listen' },
  ...outputOption,
} as const;

export const announce = defineCommand({
  name: 'announce',
  summary: summaries.announce,
  about: `Announces a pushed image to a receiver, from a pipeline. With --wait, it shows what becomes of it, and ends when the image runs, or with the reason and the page of what holds it. Needs only the secret of the receiver, and for --wait its setting showResults.

Exit codes: 0 accepted, or with --wait: it runs, 1 it does not, 2 wrong usage.`,
  arguments: [{ name: 'IMAGE', about: 'REGISTRY/REPOSITORY:TAG, and @DIGEST if it is known' }],
  options,
  examples: [['announce harbor.example.com/shop/web:1.4.2 --to https://hooks.example.com/webhooks/ci --wait', 'end when the image runs']],
  async run(values, [image], terminal) {
    if (image === undefined || tryParseImageReference(image)?.tag === undefined)
      throw new UsageError('name the image with its tag: harbor.example.com/shop/web:1.4.2');
    const receiver = readReceiver(values);
    const waits = readWait(values);
    const connection = await openFetch(receiver.url);
    const announcer = { ...receiver, fetch: connection.fetch };
    try {
      const { accepted, ignored } = await announceSoon(announcer, image, values.id ?? randomUUID(), terminal);
      const [first] = accepted;
      if (first === undefined) {
        terminal.err(`${printable(`${announcer.url.host} ignored it: ${ignored[0]?.reason ?? 'no reason was given'}`)}\n`);
        return 1;
      }
      if (waits === undefined) {
        print(terminal, values.output, { image, id: first.id, delivery: first.delivery }, () => `${printable(`accepted: ${image}`)}\n`);
        return 0;
      }
      if (first.delivery === undefined)
        throw new AnnounceError(
          'the push is accepted, but its receiver does not say what becomes of it: set receivers[].showResults',
          false,
        );
      const { delivery } = first;
      return await follow(() => askReport(announcer, delivery), { ...waits, output: values.output, terminal });
    } catch (error) {
      if (!(error instanceof AnnounceError)) throw error;
      terminal.err(`${printable(error.message)}\n`);
      return 1;
    } finally {
      await connection.close();
    }
  },
});

type Given = Values<typeof options>;

function readReceiver({
  to,
  'secret-env': variable = 'WEBHOOK_SECRET',
  'secret-file': file,
  insecure = false,
}: Given): Omit<Announcer, 'fetch'> {
  const url = to === undefined ? null : URL.parse(to);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError('say with --to where the receiver is: https://hooks.example.com/webhooks/ci');
  if (url.protocol === 'http:' && !insecure)
    throw new UsageError(`with http, whoever listens at ${url.host} gets the secret: use https, or accept it with --insecure`);
  const proof = (file === undefined ? processSource().env[variable] : readSecret(file))?.trim() ?? '';
  if (proof === '') throw new UsageError(`the secret of the receiver is missing: put it into ${file ?? variable}`);
  return { url, proof };
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} ${describeReadError(error)}`);
  }
}

function readWait({
  wait = false,
  until,
  timeout,
}: Given): { readonly until: 'rolledOut' | 'changed'; readonly timeoutMs: number } | undefined {
  if (!wait && (until ?? timeout) !== undefined) throw new UsageError(`--${until === undefined ? 'timeout' : 'until'} goes with --wait`);
  const timeoutMs = timeout === undefined ? 900_000 : parseDuration(timeout);
  if (timeoutMs === undefined) throw new UsageError(`--timeout is a duration such as 90s, 15m or 1h, not "${timeout}"`);
  return wait ? { until: until === 'changed' ? 'changed' : 'rolledOut', timeoutMs } : undefined;
}

const maxTries = 8;
const firstPauseMs = 500;

/** Announces it, again and again where another try may succeed: the same id makes it one push. Prints each failed try, and when the next one is. */
async function announceSoon(announcer: Announcer, image: string, id: string, terminal: Terminal): ReturnType<typeof announceImage> {
  for (let tries = 1; ; tries++) {
    try {
      return await announceImage(announcer, image, id);
    } catch (error) {
      if (!(error instanceof AnnounceError) || !error.isTemporary || tries === maxTries) throw error;
      const pauseMs = firstPauseMs * 2 ** (tries - 1);
      terminal.err(`${printable(`${error.message}; try ${tries} of ${maxTries}, the next one in ${pauseMs / 1_000} s`)}\n`);
      await delay(pauseMs);
    }
  }
}
