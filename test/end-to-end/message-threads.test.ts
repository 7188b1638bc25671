/** Messages about rollouts with the real controllers: one for each push, changed by a bot, and sent at the end by a webhook. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { slack, startChat } from '../notify/chat-services.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';

let rollouts: RolloutWorld;
let bot: Awaited<ReturnType<typeof startChat>>;
const posts: string[] = [];
const hook = createServer((request, response) => {
  void text(request).then((body) => {
    posts.push((JSON.parse(body) as { text: string }).text);
    return response.writeHead(200).end('ok');
  });
});

before(async () => {
  bot = await startChat(slack);
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  const common = { insecure: true, events: ['*'] };
  rollouts = await startRolloutWorld({
    env: {
      BOT_URL: bot.url,
      BOT_TOKEN: slack.secret,
      HOOK_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
      WEBHOOK_SECRET: 'end-to-end-secret',
    },
    config: {
      notifications: {
        targets: [
          { name: 'bot', kind: 'slackBot', url: { env: 'BOT_URL' }, secret: { env: 'BOT_TOKEN' }, ...common },
          { name: 'hook', kind: 'slack', url: { env: 'HOOK_URL' }, ...common },
        ],
      },
    },
  });
});
after(async () => {
  await rollouts.stop();
  bot.stop();
  hook.close();
});

test('a push leads to one message in a chat, which is edited to say whether the image runs', async () => {
  const { create, update, kubelet, image, world } = rollouts;
  const subject = `${world.namespace}/web`;
  await create('web');
  await update('web', '1.0.1');
  await waitFor('the beginning', () => bot.messages.some(({ title }) => title === `🔵 ${subject} 1.0.1 replaces 1.0.0 (1 workload)`));
  assert.equal(posts.length, 0);
  await kubelet.becomesReady('web', image('web', '1.0.1'));
  const out = `✅ ${subject} 1.0.1 rolled out (1 workload)`;
  await waitFor('the end', () => bot.messages[0]?.title === out && posts.length > 0);
  assert.deepEqual([bot.messages.length, posts], [1, [out]]);

  await update('web', '1.0.2');
  await kubelet.cannotPull('web', image('web', '1.0.2'), 'Back-off pulling image: not found');
  await world.waitForImage('web', image('web', '1.0.1'));
  const back = `🔔 ${subject} 1.0.2 failed, rolled back to 1.0.1 (1/1 workload)`;
  const failed = `❌ ${subject} 1.0.2 failed: ImagePullFailed (1/1 workload)`;
  await waitFor('the rollback', () => bot.messages[1]?.answers.length === 2 && posts.includes(back));
  const { title, answers } = bot.messages[1] ?? assert.fail();
  assert.equal(title, back);
  // In whichever order the two arrive, the first one calls.
  assert.match(answers[0] ?? '', /^!/);
  assert.deepEqual(answers.map((answer) => answer.replace(/^!/, '')).toSorted(), [failed, back].toSorted());
  // The failure is reported as well if its rollback takes half a minute.
  assert.deepEqual([bot.messages.length, posts.filter((post) => post !== failed)], [2, [out, back]]);
  assert.deepEqual(bot.refused, []);
});
