/** The page of one policy: the verdict with the one thing to do, what runs and what is selected, the way of the last push, and the confirmations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckRecord } from '../../src/core/model/check-record.ts';
import { checkId } from '../../src/core/model/rollout-check.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { samplePorts } from '../service/api/sample-policies.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

/** The section of a page between its heading and the next one, as text. */
function sectionOf(html: string, heading: string): string {
  const [, section = ''] = html.split(`<h2>${heading}</h2>`);
  return textOf(section.split('<h2>')[0] ?? '');
}

test('the page of a policy whose rollout failed shows the cause, and the one thing to do as a button', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/payments');
  assert.match(textOf(text), /Failed harbor\.example\.com\/shop\/payments:5\.1\.0 fails its rollout/);
  assert.match(textOf(text), /rolled back on 1 workload/);
  assert.match(text, /<a class="button" href="\/policies\/shop\/payments\/release">Push a better image/);
  assert.match(text, /<a href="\/cause\?id=image%2FRolloutFailed/);
  assert.match(sectionOf(text, 'Now'), /Running 5\.0\.4 In between ✗ RolloutFailed Selected 5\.1\.0/);
  assert.match(sectionOf(text, 'The way of the last push'), /Changed Rolled out stopped here/);
  assert.match(sectionOf(text, 'History'), /5\.1\.0 Rolled back after a push/);
});

test('the page of an up-to-date policy shows that nothing is in between and that the last push rolled out', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/checkout');
  assert.match(sectionOf(text, 'Now'), /Running 2\.4\.0 1 of 1 workloads are up to date In between ✓ nothing Selected 2\.4\.0/);
  assert.match(sectionOf(text, 'The way of the last push'), /Rolled out 2026-03-01 11:48 UTC after 41\.0 s/);
});

test('the page of a policy shows the number of available pods, and of updated pods during a rollout', async (t) => {
  const rollout = { observedGeneration: 1, wanted: 6, toUpdate: 6, updated: 2, available: 5, outdated: 4, wasComplete: false };
  const workload = { ...workloadOf({ web: 'registry.example.com/shop/web:1.2.3' }), name: 'web', namespace: 'shop', generation: 1 };
  const policy = policyOf({
    spec: specOf({ targets: [{ kind: 'Deployment', name: 'web', namespace: 'shop' }] }),
    status: { running: '1.2.3' },
  });
  const pageWith = async (progress: typeof rollout) => {
    const cluster = { ...samplePorts([]).cluster, findWorkload: () => ({ ...workload, rollout: progress }) };
    const { get } = openDashboard(t, { policies: { all: () => [policy], find: () => policy, cluster } });
    return sectionOf((await get(`/policies/${policy.namespace}/${policy.name}`)).text, 'Now');
  };
  assert.match(await pageWith(rollout), /Running 1\.2\.3 5 of 6 pods are available 2 of 6 are of the newest revision In between/);
  assert.match(await pageWith({ ...rollout, updated: 6, available: 6 }), /Running 1\.2\.3 6 of 6 pods are available In between/);
});

test('the page of a policy that waits for approval shows the reason in between, and where the push waits', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/cart');
  assert.match(sectionOf(text, 'Now'), /In between ✗ ApprovalRequired/);
  assert.match(sectionOf(text, 'The way of the last push'), /Permitted waits here/);
  const chinese = textOf((await get('/policies/shop/cart', { 'accept-language': 'zh-CN' })).text);
  assert.match(chinese, /两者之间/);
  assert.match(chinese, /在此等待/);
});

test('the page of a policy has a space between a check and its text, and between a tag and its result', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/payments');
  assert.match(text, /<code>namespace<\/code> the namespace shop is selected/);
  assert.match(text, /<code>5\.1\.0<\/code><\/b> <span class="badge wait">Rolled back/);
});

test('the page of a policy folds checks that passed, with their names', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/cart');
  const [, folded = ''] = /<details[^>]*>\s*<summary>(\d+ checks passed.*?)<\/summary>/s.exec(text) ?? [];
  assert.match(textOf(folded), /^\d+ checks passed .*namespace, spec, tag/);
});

test('the confirmation of a rollback and of an approval shows the running and the new image, and the workloads', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const rollback = textOf((await get('/policies/shop/checkout/rollback')).text);
  assert.match(rollback, /Runs now 2\.4\.0 Will run 2\.3\.1 Workloads: 1 Deployment shop\/checkout.*the previous image: 2\.3\.1/);
  const approval = textOf((await get('/policies/shop/cart/approve')).text);
  assert.match(approval, /Runs now 1\.8\.2 Will run 1\.9\.0/);
});

test('the page of a policy shows pods of a failing rollout with reasons and end of the log, without their markup', async (t) => {
  const { policies, ...options } = exampleOptions();
  const log = ['panic: <script>alert(1)</script>'];
  const container = { name: 'web', ready: false, restarts: 3, reason: 'CrashLoopBackOff', exitCode: 1, log };
  const readPods = () => Promise.resolve([{ name: 'payments-1', startedAt: '2026-03-01T11:00:00Z', containers: [container] }]);
  const { get } = openDashboard(t, { ...options, policies: { ...policies, readPods } });
  const { text } = await get('/policies/shop-eu/payments');
  assert.match(text, /payments-1<\/code>[^]*CrashLoopBackOff<\/b>\s*<small>3 restarts, exit code 1/);
  assert.match(text, /panic: &lt;script>alert\(1\)/);
  assert.doesNotMatch((await get('/policies/shop/checkout')).text, /id="pods"/);
});

test('the page of a policy shows in its history why pods of a rolled back image failed', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/payments');
  assert.match(
    sectionOf(text, 'History'),
    /The image failed: CrashLoop: Deployment shop\/payments: pod payments-\S+, container payments: CrashLoopBackOff/,
  );
});

test('the page of a policy shows checks of the selected image with verdict and last answer, without their markup', async (t) => {
  const question = { kind: 'http', url: 'https://checks.example.com', secret: { name: 'checks', key: 'key' } } as const;
  const check = { everyMs: 1_000, timeoutMs: 60_000, retries: 0, question } as const;
  const gate = { ...check, name: 'gate', phase: 'before' } as const;
  const smoke = { ...check, name: 'smoke', phase: 'after' } as const;
  const image = { tag: '1.3.0', digest: digestOf('b') };
  const startedAt = '2026-03-01T11:59:00.000Z';
  const id = checkId(policyOf(), gate, image, startedAt);
  const record = { name: 'gate', phase: 'before', id, ...image, state: 'Failed', startedAt, at: startedAt } as const;
  const pageWith = async (checks: readonly CheckRecord[], headers = {}) => {
    const spec = specOf({ rollout: { timeoutMs: 1, onFailure: 'Rollback', checks: [gate, smoke] } });
    const policy = policyOf({ spec, status: { latest: { ...image, selectedAt: startedAt }, checks } });
    const { cluster } = samplePorts([]);
    const { get } = openDashboard(t, { policies: { all: () => [policy], find: () => policy, cluster } });
    return (await get(`/policies/${policy.namespace}/${policy.name}`, headers)).text;
  };
  const bad = await pageWith([{ ...record, message: '<script>alert(1)</script> is missing' }]);
  assert.doesNotMatch(bad, /<script>alert/);
  const [, section = ''] = /<section id="checks">(.*?)<\/section>/s.exec(bad) ?? [];
  assert.match(textOf(section), /Checks of 1\.3\.0.*gate before a change failed .*&lt;script>alert\(1\)&lt;\/script> is missing/);
  assert.match(textOf(section), /smoke after the rollout not asked –/);
  const edited = await pageWith([{ ...record, id: 'of another question' }]);
  assert.match(textOf(/<section id="checks">(.*?)<\/section>/s.exec(edited)?.[1] ?? ''), /gate before a change not asked –/);
  const chinese = await pageWith([{ ...record, state: 'Running', message: 'the query has no result' }], { 'accept-language': 'zh-CN' });
  assert.match(textOf(chinese), /gate 修改之前 尚无结论 .*查询没有结果/);
});

test('a policy that is too large to write as YAML is named with the command that does', async (t) => {
  const labels = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`label-${index}`, 'some text']));
  let reads = 0;
  const read = () => {
    reads++;
    return Promise.resolve({ metadata: { namespace: 'shop', name: 'ready', labels }, spec: {} });
  };
  const { get } = openDashboard(t, { policies: { read } });
  const page = await get('/policies/shop/ready');
  assert.match(page.text, /href="\/policies\/shop\/ready\/yaml"/);
  assert.equal(reads, 0, 'it is read only for those who look at it');
  const { text } = await get('/policies/shop/ready/yaml');
  assert.match(text, /kubectl get ipol -n shop ready -o yaml/);
  assert.doesNotMatch(text, /label-17/);
});
