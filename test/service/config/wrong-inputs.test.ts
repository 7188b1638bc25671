/** What a new user may write wrong, and the one message for it: where, what is wrong, what to do. `UPDATE=1` writes the messages anew, to be read. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { providerIds } from '../../../src/service/receive/providers/index.ts';
import { mainProgram } from '../../harness/program.ts';
import { askRedis, probeMs, startRedis } from '../../harness/redis.ts';
import { type RunningProcess, startProcess } from '../../harness/process.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

interface WrongInput {
  readonly input: string;
  /** The text of config.yaml. `PORT` stands for a port that is taken or that nobody listens on, `REDIS` for that of a Redis with a password. */
  readonly config?: string;
  /** Other files, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of the program; without them, the configuration alone is read. */
  readonly args?: readonly string[];
  /** The message; `PROVIDERS` stands for the list of their ids. */
  readonly message: string;
}

const golden = join(import.meta.dirname, 'wrong-inputs.yaml');
const rows = parse(readFileSync(golden, 'utf8')) as readonly WrongInput[];
const isUpdate = Boolean(process.env['UPDATE']);
const said = new Map<string, string>();

it('at least thirty wrong inputs are listed, each with another message', () => {
  assert.ok(rows.length >= 30);
  assert.equal(new Set(rows.map(({ input }) => input)).size, rows.length);
  assert.equal(new Set(rows.map(({ message }) => message)).size, rows.length);
});

describe('a wrong input', () => {
  const taken = createServer();
  const ports = { PORT: 0, REDIS: 0 };
  const withPorts = (text: string) => text.replaceAll(/\b(?:PORT|REDIS)\b/g, (name) => String(Reflect.get(ports, name)));
  const known = () => ({ ...ports, PROVIDERS: providerIds.join(', ') });
  const withNames = (text: string) => Object.entries(known()).reduce((rest, [name, value]) => rest.replaceAll(String(value), name), text);
  before(async () => {
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    const redis = await startRedis();
    await askRedis(redis.port, 'CONFIG SET requirepass right', probeMs);
    Object.assign(ports, { PORT: (taken.address() as AddressInfo).port, REDIS: redis.port });
  });
  after(() => {
    taken.close();
    if (isUpdate) writeMessages();
  });

  for (const row of rows)
    it(`is answered with what to do: ${row.input}`, async () => {
      const folder = tempFolder('wrong');
      const files = { ...row.files, ...(row.config !== undefined && { 'config.yaml': row.config }) };
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), withPorts(text));
      }
      const message = withNames((row.args === undefined ? read(row, folder) : await run(row, folder)).replaceAll(`${folder}/`, ''));
      said.set(row.input, message);
      if (!isUpdate) assert.equal(message, row.message);
      assert.doesNotMatch(message, /hunter2|Invalid input|expected|\n\s+at /, 'no secret, no word of a library, no stack');
    });
});

function writeMessages(): void {
  const [heading = ''] = readFileSync(golden, 'utf8').split('\n');
  const written = rows.map((row) => ({ ...row, message: said.get(row.input) }));
  writeFileSync(golden, `${heading}\n${stringify(written, { lineWidth: 0, aliasDuplicateObjects: false })}`);
}

/** What is wrong with the configuration alone. */
function read({ env = {} }: WrongInput, folder: string): string {
  try {
    loadSettings({ file: join(folder, 'config.yaml'), env });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.equal(error.problems.length, 1, error.message);
    return error.message;
  }
  return 'nothing is wrong';
}

/** The first message of the program, or its first warning about Redis. */
async function run({ args = [], env = {} }: WrongInput, folder: string): Promise<string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const main = await mainProgram();
  const options = { cwd: folder, env: { PATH, NODE_COMPILE_CACHE, HOME: folder, ...env } };
  const argv = [main, ...args.map((word) => (word === 'config.yaml' ? join(folder, word) : word))];
  if (!args.includes('receive,work')) {
    const failed = await promisify(execFile)(process.execPath, argv, options).catch((error: { code: number; stderr: string }) => error);
    assert.ok('code' in failed && failed.code > 0);
    return failed.stderr.trimEnd();
  }
  const service = await startProcess(process.execPath, argv, { ...options, name: 'service' });
  try {
    await waitFor('a line about Redis', () => linesAboutRedis(service).length > 0);
    // The worker's connections have failed too by then; each was one more line.
    await waitFor('the second check', () => countStarts(service) > 0);
  } finally {
    await service.stop();
  }
  const lines = linesAboutRedis(service);
  assert.equal(lines.length, 1, lines.join('\n'));
  const { why, setting, remedy, msg } = JSON.parse(lines[0] ?? '') as Record<string, string>;
  return [msg, why, setting, remedy].filter(Boolean).join(' | ');
}

const linesAboutRedis = (service: RunningProcess) =>
  service
    .logTail(1_000)
    .split('\n')
    .filter((line) => /"msg":"(?:redis|queue)/.test(line));
const countStarts = (service: RunningProcess) => service.logTail(1_000).split('"msg":"started"').length - 1;
