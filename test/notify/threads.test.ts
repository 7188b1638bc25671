/** One message for each push, with a real Redis and services that accept what they document. */
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { WaitError } from '../../src/core/model/errors.ts';
import type { Notice, NoticeKind } from '../../src/core/model/notice.ts';
import { createNoticeProcessor, type NoticePorts } from '../../src/notify/process-notice.ts';
import { exchange } from '../../src/service/proxy/exchange.ts';
import { connectWorker, type RedisConnection } from '../../src/service/queue/connection.ts';
import { createNoticeThreads, type NoticeThreads } from '../../src/service/queue/notice-threads.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { contextOf } from '../service/reconcile/world.ts';
import { type ChatForm, discord, mattermost, slack, startChat } from './chat-services.ts';

let server: Redis;
let redis: RedisConnection;
before(async () => {
  server = await startRedis();
  redis = connectWorker(server.url);
});
after(async () => {
  redis.disconnect();
  await server.stop();
});

const [good, bad] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`) as [string, string];
const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' } as const;
/** The notices about a push, as they follow from each other. A rollback is about the image that runs again. */
const noticeOf = (kind: NoticeKind, more: Partial<Notice> = {}): Notice => ({
  kind,
  subject,
  at: '2026-11-23T12:00:00Z',
  ...(kind === 'RolledBack'
    ? { tag: '1.4.1', digest: good, undone: bad, from: ['r/web:1.4.2'], at: '2026-11-23T12:01:00Z' }
    : { tag: '1.4.2', digest: bad }),
  ...(kind === 'RolledBack' || kind === 'RolloutFailed' ? { reason: 'CrashLoop' } : {}),
  ...more,
});
const second = (count: number) => new Date(Date.parse('2026-11-23T12:05:00Z') + count * 1_000).toISOString();

/** The title without the icon and without markup. */
const plain = (title: string) => title.replaceAll(/[^\p{L}\p{N} .,:/!]/gu, '').replace(/^(!?) /, '$1');

let targets = 0;

/** A target of the service, and processes that send it notices. */
async function startTarget(form: ChatForm, { events = ['*'], url = (own: string) => own } = {}) {
  const chat = await startChat(form);
  const name = `chat${targets++}`;
  const all = ['ApprovalRequired', 'Updated', 'RolledOut', 'RolloutFailed', 'RolledBack', 'Blocked'];
  const target = {
    name,
    kind: form.kind,
    events: events.includes('*') ? all : events,
    namespaces: [],
    insecure: true,
    perMinute: 100,
    url: () => url(chat.url),
    secret: () => form.secret,
  };
  const counted: string[] = [];
  const processWith = (threads: NoticeThreads, ports: Partial<NoticePorts> = {}) =>
    createNoticeProcessor({
      findTarget: () => target,
      exchange: (to, request, options) => exchange(to, request, { ...options, fetch, now: Date.now }),
      mail: () => Promise.reject(new Error('not used')),
      mayAppear: () => false,
      readOrigins: () => Promise.resolve({}),
      onResult: () => undefined,
      held: {
        hold: () => Promise.resolve(undefined),
        close: () => Promise.resolve({ notices: [], more: 0 }),
        forget: () => Promise.resolve(),
      },
      threads,
      recordGivenUp: () => Promise.resolve(),
      addSummary: () => Promise.resolve(),
      count: ({ result }) => counted.push(result),
      logger: createLogger('silent'),
      now: Date.now,
      ...ports,
    });
  const threads = createNoticeThreads(redis, '{iw}');
  const sender = (process = processWith(threads)) => {
    /** Sends a notice as a worker does: again, if it failed. */
    const send = async (notice: Notice, receivedAt: string, tries = 50): Promise<void> => {
      const job = { schema: 1, target: name, identity: [notice.kind], notice, receivedAt } as const;
      try {
        await process(job, contextOf({ jobId: `${notice.kind} ${receivedAt}` }));
      } catch (error) {
        if (tries === 0) throw error;
        // It waits for its turn.
        if (error instanceof WaitError) await new Promise(setImmediate);
        await send(notice, receivedAt, tries - 1);
      }
    };
    return send;
  };
  const shown = () => chat.messages.map(({ title, answers }) => [plain(title), ...answers.map((one) => `> ${plain(one)}`)]);
  const verify = () => assert.deepEqual(chat.refused, [], 'what the service does not document');
  return { chat, name, target, counted, threads, processWith, sender, send: sender(), shown, verify };
}

const updated = 'shop/web 1.4.2 was applied';
const rolledOut = 'shop/web 1.4.2 rolled out';
const failed = 'shop/web 1.4.2 failed: CrashLoop';
const rolledBack = 'shop/web 1.4.2 failed, rolled back to 1.4.1';

for (const form of [slack, mattermost, discord]) {
  const answers = form.kind !== 'discord';
  /** The answers below a message, where the service has any. */
  const below = (...titles: string[]) => (answers ? titles.map((title) => `> ${title}`) : []);

  describe(`a push, in a channel of ${form.kind},`, () => {
    it('is one message that shows its current state', async (t) => {
      const { send, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('Updated'), second(0));
      assert.deepEqual(shown(), [[updated]]);
      await send(noticeOf('RolledOut'), second(1));
      assert.deepEqual(shown(), [[rolledOut, ...below(rolledOut)]]);
      verify();
    });

    it('that fails is one message in a channel that gets only failures', async (t) => {
      const { send, shown, chat, verify } = await startTarget(form, { events: ['RolloutFailed', 'RolledBack'] });
      t.after(chat.stop);
      await send(noticeOf('RolloutFailed'), second(0));
      await send(noticeOf('RolledBack'), second(1));
      assert.deepEqual(shown(), [[rolledBack, ...below(rolledBack)]]);
      verify();
    });

    it('that is rolled back shows the rollback, although the former image is then rolled out', async (t) => {
      const { send, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('RolloutFailed'), second(0));
      await send(noticeOf('RolledBack'), second(1));
      await send(noticeOf('RolledOut', { tag: '1.4.1', digest: good, undone: bad, at: noticeOf('RolledBack').at }), second(2));
      assert.deepEqual(shown(), [[rolledBack, ...below(rolledBack)]]);
      verify();
    });

    it('that fails notifies the channel again if the channel has only a message about its beginning', async (t) => {
      const { send, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('Updated'), second(0));
      await send(noticeOf('RolloutFailed'), second(1));
      await send(noticeOf('RolledBack'), second(2));
      assert.deepEqual(
        shown(),
        form.kind === 'slackBot' ? [[rolledBack, `> !${failed}`, `> ${rolledBack}`]] : [[updated], [rolledBack, ...below(rolledBack)]],
      );
      verify();
    });

    it('keeps its latest state, in whichever order the notices arrive', async (t) => {
      const { send, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('RolledOut'), second(1));
      // The clock of the process that stored it is ahead.
      await send(noticeOf('Updated'), second(9));
      assert.deepEqual(shown(), [[rolledOut, ...below(updated)]]);
      await send(noticeOf('RolledOut'), second(1));
      assert.deepEqual(shown(), [[rolledOut, ...below(updated)]], 'a repetition changes nothing');
      verify();
    });

    it('is one message if two processes report it simultaneously', async (t) => {
      const { sender, processWith, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      const connections = [connectWorker(server.url), connectWorker(server.url)];
      t.after(() => connections.forEach((one) => one.disconnect()));
      const [one, other] = connections.map((own) => sender(processWith(createNoticeThreads(own, '{iw}'))));
      await Promise.all([one?.(noticeOf('RolledOut'), second(1), 1_000), other?.(noticeOf('Updated'), second(0), 1_000)]);
      assert.equal(chat.messages.length, 1);
      assert.equal(shown()[0]?.[0], rolledOut);
      verify();
    });

    it('is two messages at most, and never none, if the process dies before it remembers the message', async (t) => {
      const { send, sender, processWith, threads, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      let deaths = 1;
      const dying: NoticeThreads = {
        async take(...thread) {
          const taken = await threads.take(...thread);
          const die = () => Promise.reject(new Error('killed'));
          return taken && { ...taken, remember: (state) => (deaths-- > 0 ? die() : taken.remember(state)) };
        },
      };
      await sender(processWith(dying))(noticeOf('Updated'), second(0));
      assert.deepEqual(shown(), [[updated], [updated]]);
      await send(noticeOf('RolledOut'), second(1));
      assert.deepEqual(shown(), [[updated], [rolledOut, ...below(rolledOut)]]);
      verify();
    });

    it('is posted again if somebody has deleted the message', async (t) => {
      const { send, shown, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('Updated'), second(0));
      chat.messages.length = 0;
      await send(noticeOf('RolledOut'), second(1));
      assert.deepEqual(shown(), [[rolledOut]]);
      verify();
    });

    it('is edited when the chat service works again', async (t) => {
      const { send, shown, chat, counted, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('Updated'), second(0));
      chat.answerNext({ status: 503, body: {} });
      await send(noticeOf('RolledOut'), second(1));
      assert.deepEqual(shown(), [[rolledOut, ...below(rolledOut)]]);
      assert.deepEqual(counted, ['sent', 'failed', 'sent']);
      verify();
    });

    it('has a message of its own for each image and each policy', async (t) => {
      const { send, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      await send(noticeOf('Updated'), second(0));
      await send(noticeOf('Updated', { digest: good }), second(1));
      await send(noticeOf('Updated', { subject: { ...subject, uid: 'u2' } }), second(2));
      await send(noticeOf('Updated', { subject: { ...subject, name: 'api' } }), second(3));
      assert.equal(chat.messages.length, 4);
      verify();
    });

    it('causes no request to another address, whatever Redis contains', async (t) => {
      const { send, name, chat, verify } = await startTarget(form);
      t.after(chat.stop);
      for (const id of ['../../../evil', '..', '%2e%2e', '1'.repeat(5_000), { a: 1 }, 7]) {
        await send(noticeOf('Updated'), second(0));
        const key = `{iw}:notices:threads:${name}`;
        const [thread = assert.fail()] = await redis.hkeys(key);
        const text = JSON.stringify({ id, kind: 'Updated', at: noticeOf('Updated').at, receivedAt: second(0) });
        await redis.hset(key, thread, text);
        await send(noticeOf('RolledOut'), second(1));
        await redis.del(key);
      }
      assert.equal(new Set(chat.requests).size, 1, chat.requests.join('; '));
      verify();
    });
  });
}

describe('a bot of Slack', () => {
  for (const [error, expected] of [
    ['invalid_auth', ['failed', 'sent']],
    ['not_in_channel', ['failed', 'sent']],
    ['invalid_blocks', ['abandoned']],
  ] as const)
    it(`that answers 200 with ${error} counts as ${expected[0]}`, async (t) => {
      const { send, chat, counted } = await startTarget(slack);
      t.after(chat.stop);
      chat.answerNext({ status: 200, body: { ok: false, error } });
      await send(noticeOf('Updated'), second(0));
      assert.deepEqual(counted, expected);
    });

  for (const channel of ['', '?channel=', '?channel=%23ops', '?channel=C1/../x'])
    it(`gets no request if its URL ends with ${JSON.stringify(channel)}`, async (t) => {
      const { send, chat, counted } = await startTarget(slack, { url: (own) => own.replace(/\?.*/, channel) });
      t.after(chat.stop);
      await assert.rejects(send(noticeOf('Updated'), second(0), 0), /names no channel/);
      assert.deepEqual([chat.requests, counted], [[], ['failed']]);
    });
});

test('the threads that are remembered for a target are bounded, and expire', async () => {
  const threads = createNoticeThreads(redis, '{iw}');
  const state = { id: '1', kind: 'Updated', at: second(0), receivedAt: second(0) } as const;
  const remember = async (index: number) => {
    const taken = (await threads.take('bounded', `t${index}`)) ?? assert.fail();
    await taken.remember(state);
    await taken.release();
  };
  await Promise.all(Array.from({ length: 1_010 }, (_, index) => remember(index)));
  await remember(1_010);
  const keys = ['{iw}:notices:threads:bounded', '{iw}:notices:thread-times:bounded'] as const;
  assert.deepEqual([await redis.hlen(keys[0]), await redis.zcard(keys[1])], [1_000, 1_000]);
  for (const key of keys) assert.ok((await redis.pttl(key)) > 0, key);
  assert.deepEqual((await threads.take('bounded', 't1010'))?.last, state);
});

test('a thread is taken by one worker at a time, until that worker takes too long', async () => {
  const threads = createNoticeThreads(redis, '{iw}');
  const state = { id: '1', kind: 'Updated', at: second(0), receivedAt: second(0) } as const;
  const slow = (await threads.take('ops', 'one')) ?? assert.fail();
  assert.equal(await threads.take('ops', 'one'), undefined);
  // As if its minute were over.
  await redis.del('{iw}:notices:taken:ops:one');
  const next = (await threads.take('ops', 'one')) ?? assert.fail();
  await next.remember(state);
  await slow.remember({ ...state, id: '2' });
  await slow.release();
  assert.equal(await threads.take('ops', 'one'), undefined, 'the slow worker released what another one has');
  await next.release();
  assert.deepEqual((await threads.take('ops', 'one'))?.last, state);
});
