/** The durable record in a folder, with a real Redis: each entry once, whoever is killed when. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createFolderStore } from '../../../src/activity/record/folder-store.ts';
import type { SegmentStore } from '../../../src/activity/record/store.ts';
import { writeRecord, type RecordPorts } from '../../../src/activity/record/write-record.ts';
import { createActivityWriter } from '../../../src/service/queue/activity-stream.ts';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createOutbox, readOutboxState, type Outbox } from '../../../src/service/queue/outbox.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { approvalOf, factsOf, readStore } from './facts.ts';

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectWorker(redis.url);
});
after(async () => {
  connection.disconnect();
  await redis.stop();
});

const { signal } = new AbortController();
let count = 0;

/** A record of its own, in a new folder. */
function open() {
  const prefix = `{record-${++count}}`;
  const folder = tempFolder('record');
  const note = createActivityWriter({ redis: connection, prefix, isKept: true }, Date.now);
  const ports: RecordPorts = {
    outbox: createOutbox(connection, prefix),
    store: createFolderStore(folder),
    describe: factsOf,
    source: '/test',
  };
  return {
    ports,
    prefix,
    folder,
    note: async (...names: readonly string[]) => {
      for (const name of names) await note(approvalOf(name));
    },
    write: (of: Partial<RecordPorts> = {}) => writeRecord({ ...ports, ...of }, signal),
    read: () => readStore(ports.store),
    waiting: async () => (await readOutboxState(connection, prefix)).waiting,
  };
}

test('waiting activities are written to the record once, in order, and leave the outbox', async () => {
  const { note, write, read, waiting, folder } = open();
  assert.equal(await write(), 0);
  await note('a', 'b', 'b', 'c');
  assert.equal(await write(), 3);
  await note('d');
  assert.equal(await write(), 1);
  const { names, verified } = await read();
  assert.deepEqual(names, ['a', 'b', 'c', 'd']);
  assert.deepEqual([verified.ok, verified.lines, await waiting()], [true, 4, 0]);
  assert.deepEqual(readdirSync(folder), ['0000000001.jsonl', '0000000002.jsonl']);
});

test('an activity is not put into the outbox where no record is configured', async () => {
  await createActivityWriter({ redis: connection, prefix: '{off}' }, Date.now)(approvalOf('a'));
  assert.deepEqual(await readOutboxState(connection, '{off}'), { waiting: 0 });
});

const killed = () => Promise.reject(new Error('killed'));
const faults: readonly [when: string, fault: (ports: RecordPorts) => { readonly outbox?: Outbox; readonly store?: SegmentStore }][] = [
  ['before a segment is written', ({ store }) => ({ store: { ...store, put: killed } })],
  [
    'after it is written, before it is committed',
    ({ store }) => ({ store: { ...store, put: async (...of) => (await store.put(...of)) && killed() } }),
  ],
  ['while it is committed', ({ outbox }) => ({ outbox: { ...outbox, commit: killed } })],
];
for (const [when, fault] of faults) {
  test(`each entry is written once if a process is killed ${when}`, async () => {
    const { ports, note, write, read, waiting } = open();
    await note('a', 'b');
    await assert.rejects(write(fault(ports)), /killed/);
    await note('c');
    await assert.rejects(write(fault(ports)), /killed/);
    await note('d');
    await write();
    const { names, verified } = await read();
    assert.deepEqual([...names], ['a', 'b', 'c', 'd']);
    assert.deepEqual([verified.ok, await waiting()], [true, 0]);
  });
}

test('a replica that freezes before it writes a segment repeats no entry that another replica has written', async () => {
  const { ports, note, write, read } = open();
  await note('a', 'b');
  const frozen: SegmentStore = {
    ...ports.store,
    async put(...of) {
      // The lease is over: another replica writes these entries, and later ones.
      if ((await ports.store.last(signal)) === undefined) {
        await write();
        await note('c');
        await write();
        await note('d');
      }
      return ports.store.put(...of);
    },
  };
  await write({ store: frozen });
  const { names, verified } = await read();
  assert.deepEqual([...names], ['a', 'b', 'c', 'd']);
  assert.equal(verified.ok, true);
});

test('two writers that are killed again and again write each entry once', { timeout: 120_000 }, async (t) => {
  const { prefix, folder, note, write, read, waiting } = open();
  const running = new Set<ChildProcess>();
  const start = async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'writer-process.ts'), redis.url, prefix, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add(child);
    await once(child.stdout, 'data');
    return child;
  };
  t.after(() => running.forEach((child) => child.kill('SIGKILL')));
  const names = Array.from({ length: 120 }, (_, index) => `n${index}`);
  const children = [await start(), await start()];
  for (const [index, name] of names.entries()) {
    await note(name);
    if (index % 30 !== 29) continue;
    const victim = children.shift();
    const ended = victim && once(victim, 'exit');
    victim?.kill('SIGKILL');
    await ended;
    children.push(await start());
  }
  await waitFor('the writers to have written everything', async () => (await waiting()) === 0);
  for (const child of children) child.kill('SIGKILL');
  await write();
  const found = await read();
  assert.deepEqual(found.names, names);
  assert.deepEqual([found.verified.ok, found.verified.lines], [true, names.length]);
});

test('the record continues where it ends after Redis has lost its data', async () => {
  const { prefix, note, write, read } = open();
  await note('a');
  await write();
  await connection.del(...(await connection.keys(`${prefix}:*`)));
  await note('b');
  await write();
  const { names, verified } = await read();
  assert.deepEqual([[...names], verified.ok, verified.lines], [['a', 'b'], true, 2]);
});

test('the record continues in a folder that was emptied or edited by hand, and verification finds the break', async () => {
  const { folder, note, write, read } = open();
  for (const name of ['a', 'b', 'c']) {
    await note(name);
    await write();
  }
  rmSync(join(folder, '0000000003.jsonl'));
  await note('d');
  await write();
  assert.match((await read()).verified.break?.why ?? '', /line 3 is missing/);
  // Also the last line, because Redis knows its hash.
  writeFileSync(join(folder, '0000000004.jsonl'), readFileSync(join(folder, '0000000004.jsonl'), 'utf8').replace('"ada"', '"eve"'));
  rmSync(join(folder, '0000000001.jsonl'));
  rmSync(join(folder, '0000000002.jsonl'));
  await note('e');
  await write();
  const { names, verified } = await read();
  assert.deepEqual([...names], ['d', 'e']);
  assert.match(verified.break?.why ?? '', /line 4 was changed/);
});

test('half a segment, or a file that is no segment, does not stop the record', async () => {
  const { folder, note, write, read, waiting } = open();
  appendFileSync(join(folder, '0000000001.jsonl'), '{"specversion":"1.0"');
  appendFileSync(join(folder, 'notes.txt'), 'hello');
  writeFileSync(join(folder, '.part-old'), 'half');
  utimesSync(join(folder, '.part-old'), 0, 0);
  await note('a');
  await write();
  const { verified } = await read();
  assert.match(verified.break?.where ?? '', /^1, line 1/);
  assert.deepEqual([await waiting(), readdirSync(folder).sort()], [0, ['0000000001.jsonl', '0000000002.jsonl', 'notes.txt']]);
});

test('activities stay in Redis while the folder of the record is missing', async () => {
  const { ports, folder, note, write, read, waiting } = open();
  rmSync(folder, { recursive: true });
  await note('a');
  await assert.rejects(write(), /ENOENT/);
  assert.equal(await waiting(), 1);
  mkdirSync(folder);
  await write();
  assert.deepEqual((await read()).names, ['a']);
  assert.equal(ports.store.place, folder);
});

test('the record counts the activities that did not fit into the outbox or cannot be read from it', async () => {
  const { prefix, note, write, ports } = open();
  await note('a');
  await connection.incrby(`${prefix}:record:lost`, 7);
  await connection.xadd(`${prefix}:record`, '*', 'activity', '{');
  await write();
  const [segment = ''] = [await ports.store.read(1, signal)];
  const lines = segment
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; data: { count?: number } });
  assert.deepEqual(
    lines.map(({ type, data }) => [type.split('.').at(-1), data.count]),
    [
      ['action', undefined],
      ['lost', 1],
      ['lost', 7],
    ],
  );
});
