/** How a policy is told which other one changes its companions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyShared } from '../../../src/core/plan/shared-companions.ts';
import { noAliases, policyOf, specOf, webDeployment, workloadOf } from '../model/samples.ts';

const registry = 'registry.example.com';
const proxy = { registry, path: 'shop/proxy' };
const running = workloadOf({ web: `${registry}/shop/web:1.0.0`, proxy: `${registry}/shop/proxy:1.0.0` });

test('the message about a companion that another policy changes does not name a policy of another namespace', () => {
  const specOfA = specOf({ targets: [webDeployment], alongside: { images: [{ repository: proxy }], match: 'SameTag', withinMs: 1 } });
  const a = policyOf({ name: 'a', uid: '0', spec: specOfA });
  const b = policyOf({ name: 'b', uid: '1', spec: specOf({ targets: [webDeployment], repository: proxy }) });
  const why = (other: typeof b) => whyShared(running, { policy: a, spec: specOfA, aliases: noAliases }, () => [a, other]);
  assert.match(why(b) ?? '', /^ImagePolicy shop\/b changes proxy of Deployment shop\/web as well/);
  assert.match(why({ ...b, namespace: 'other' }) ?? '', /^another ImagePolicy changes proxy/);
});
