/** The push of a chart reaches policies with every sender that announces it: whatever the sender says about the type, the manifest at the registry decides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageReference, sameRepository } from '../../../../src/core/model/image-reference.ts';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { providers } from '../../../../src/service/receive/providers/index.ts';
import { readSamples } from './read-samples.ts';

/** The senders without a sample of a chart, and why. */
const without: Readonly<Record<string, string>> = {
  aliyun: 'its documentation names no charts in the registry, and its payload has no type',
  cdevents: 'the package URL of type oci names any artifact',
  generic: 'whoever calls it names a repository and a tag',
  huawei: 'its payload is not documented',
};

const charts = readSamples().filter(({ artifact }) => artifact === 'Chart');

test('every provider has a sample of a chart push, or a reason for having none', () => {
  const known = new Set([...charts.map(({ provider }) => provider), ...Object.keys(without)]);
  assert.deepEqual([...known].toSorted(), providers.map(({ id }) => id).toSorted());
});

for (const sample of charts) {
  test(`the chart push of ${sample.name} is an event for the policies of its repository`, () => {
    const provider = providers.find(({ id }) => id === sample.provider) ?? assert.fail();
    const { registry, repository, tags } = sample.expected ?? assert.fail();
    const host = registry ?? 'registry.example.com';
    const context = {
      receiver: 'prod',
      provider: provider.id,
      registryOverride: host,
      aliases: new Map<string, string>(),
      now: new Date(0),
    };
    const { pushes, ignored } = provider.parse(sample);
    assert.deepEqual(ignored, []);
    const events = pushes.map((push) => acceptPush(push, context)).filter(isPushEvent);
    assert.deepEqual(
      events.map(({ tag }) => tag),
      tags,
    );
    const watched = parseImageReference(`${host}/${repository}`).repository;
    for (const event of events) assert.ok(sameRepository(event.repository, watched));
  });
}
