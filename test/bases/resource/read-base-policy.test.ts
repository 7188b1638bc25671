import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { matchesSelector } from '../../../src/core/model/label-selector.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';

const context = { aliases: new Map(), customTargets: [] };
const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '7', generation: 2 };
const minimal = { image: 'harbor.example.com/library/base-java', select: { semver: { range: '21.x' } }, workloads: [{}] };

const read = (spec: unknown, status?: unknown) => readBasePolicy({ metadata, spec, status }, context);

function readUsable(spec: unknown) {
  const policy = read(spec);
  assert.ok(isUsableBase(policy.spec), JSON.stringify(policy.spec));
  return policy.spec;
}

function problemOf(spec: unknown): string {
  const policy = read(spec);
  assert.ok('problem' in policy.spec, 'it is usable');
  return policy.spec.problem.message;
}

describe('readBasePolicy', () => {
  it('fills in the defaults of a minimal policy', () => {
    const spec = readUsable(minimal);
    assert.deepEqual(spec.base.repository, { registry: 'harbor.example.com', path: 'library/base-java' });
    assert.equal(spec.base.mode, 'Automatic');
    assert.deepEqual(spec.base.targets, []);
    assert.deepEqual(spec.workloads, [{ kinds: ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'] }]);
    assert.deepEqual(spec.onNewBase, [{ kind: 'report' }]);
    assert.deepEqual(spec.waves, { maxParallel: 5, pauseMs: 600_000, maxFailures: 1 });
  });

  it('reads whose approvals a base needs, where names can be trusted', () => {
    const approvals = { count: 3, within: '24h', notByAuthor: true };
    const spec = { ...minimal, mode: 'Approval', approvals };
    const annotations = { 'operator.technomad.dev/last-edited-by': 'ada' };
    const policy = readBasePolicy({ metadata: { ...metadata, annotations }, spec }, { ...context, verifiesApprovers: true });
    assert.deepEqual(isUsableBase(policy.spec) && policy.spec.base.approvals, { count: 3, withinMs: 86_400_000, notByAuthor: true });
    assert.equal(policy.editedBy, 'ada');
    const untrusted = read(spec).spec;
    assert.deepEqual('problem' in untrusted && untrusted.problem.reason, 'ApproversUnverified');
    assert.match(problemOf({ ...minimal, approvals: {} }), /write mode: Approval, or remove approvals/);
  });

  it('selects all workloads of all namespaces if the policy names none', () => {
    const { workloads: _, ...rest } = minimal;
    const { workloads } = readUsable(rest);
    const labels = { 'kubernetes.io/metadata.name': 'shop' };
    assert.deepEqual(
      workloads.map(({ namespaceSelector, selector }) => [namespaceSelector && matchesSelector(namespaceSelector, labels), selector]),
      [
        [undefined, undefined],
        [true, undefined],
      ],
    );
  });

  it('reads every action in its order, and reports images to which no action applies', () => {
    const secretRef = { name: 'ci', key: 'token' };
    const { onNewBase } = readUsable({
      ...minimal,
      verify: { cosign: { keys: [{ secretRef: { name: 'base', key: 'cosign.pub' } }] } },
      onNewBase: [
        {
          rebase: {
            images: ['harbor.example.com/shop/*'],
            allow: ['UserChanged'],
            pushSecret: { name: 'rebaser' },
            sign: { keyRef: { name: 'signer', key: 'cosign.key' } },
          },
        },
        { restart: { images: ['harbor.example.com/tools/*'] } },
        { trigger: { images: ['*'], rebuildWithin: '30m', github: { repository: '$source', event: 'base-image', secretRef } } },
      ],
    });
    assert.deepEqual(onNewBase, [
      {
        kind: 'rebase',
        images: ['harbor.example.com/shop/*'],
        tag: '$tag-base.$date',
        allow: ['UserChanged'],
        pushSecret: 'rebaser',
        signingKey: { secret: 'signer', key: 'cosign.key' },
      },
      { kind: 'restart', images: ['harbor.example.com/tools/*'] },
      {
        kind: 'trigger',
        images: ['*'],
        rebuildWithinMs: 1_800_000,
        ci: { system: 'githubDispatch', name: 'base-image', project: '$source', secret: secretRef },
      },
      { kind: 'report' },
    ]);
  });

  it('has the action that is for all other images once, also where it is written', () =>
    assert.deepEqual(readUsable({ ...minimal, onNewBase: [{ report: {} }] }).onNewBase, [{ kind: 'report' }]));

  it('rebases all images, with the credentials of image-watcher, where an action says only rebase: {}', () => {
    const { onNewBase } = readUsable({ ...minimal, onNewBase: [{ rebase: {} }] });
    assert.deepEqual(onNewBase, [{ kind: 'rebase', images: ['*'], tag: '$tag-base.$date', allow: [] }, { kind: 'report' }]);
    const trigger = {
      images: ['harbor.example.com/shop/*'],
      gitlab: { project: '42', ref: 'main', secretRef: { name: 'ci', key: 'token' } },
    };
    assert.match(
      problemOf({ ...minimal, onNewBase: [{ rebase: {} }, { trigger }] }),
      /onNewBase\[1\]: never applies, because onNewBase\[0\] comes first/,
    );
    assert.equal(readUsable({ ...minimal, onNewBase: [{ trigger }, { rebase: {} }] }).onNewBase.length, 3);
  });

  const secretRef = { name: 'ci', key: 'token' };
  const systems = [
    [
      { github: { repository: 'shop/web', workflow: 'build.yml', ref: 'main', secretRef } },
      { system: 'githubWorkflow', name: 'build.yml', project: 'shop/web', ref: 'main', secret: secretRef },
    ],
    [
      { gitlab: { project: '42', ref: 'main', url: 'https://gitlab.example.com', secretRef } },
      { system: 'gitlab', project: '42', ref: 'main', url: 'https://gitlab.example.com', secret: secretRef },
    ],
    [
      { gitea: { repository: 'shop/web', workflow: 'build.yaml', ref: 'main', url: 'https://git.example.com', secretRef } },
      { system: 'gitea', project: 'shop/web', name: 'build.yaml', ref: 'main', url: 'https://git.example.com', secret: secretRef },
    ],
    [{ tekton: { url: 'https://tekton.example.com' } }, { system: 'tekton', url: 'https://tekton.example.com' }],
    [
      { jenkins: { url: 'https://jenkins.example.com', job: 'shop/web', secretRef } },
      { system: 'jenkins', url: 'https://jenkins.example.com', name: 'shop/web', secret: secretRef },
    ],
    [
      { webhook: { url: 'https://ci.example.com/rebuild', secretRef } },
      { system: 'webhook', url: 'https://ci.example.com/rebuild', secret: secretRef },
    ],
  ] as const;
  for (const [written, ci] of systems) {
    it(`reads the CI system ${ci.system}`, () => {
      const { onNewBase } = readUsable({ ...minimal, onNewBase: [{ trigger: { images: ['*'], ...written } }] });
      assert.deepEqual(onNewBase[0], { kind: 'trigger', images: ['*'], rebuildWithinMs: 7_200_000, ci });
    });
  }

  const sign = { keyRef: { name: 'signer', key: 'rebase.pem' } };
  const github = { repository: '$source', event: 'base-image', secretRef };
  const refused = [
    ['a spec that is missing', undefined, /no spec/],
    ['two actions in one entry', [{ report: {}, restart: { images: ['*'] } }], /exactly one of rebase, trigger, restart, report/],
    ['an action that it does not know', [{ rebuild: {} }], /exactly one of/],
    ['two CI systems', [{ trigger: { images: ['*'], github, tekton: { url: 'https://t.example.com' } } }], /exactly one of github/],
    ['a URL with a password', [{ trigger: { images: ['*'], tekton: { url: 'https://a:b@t.example.com' } } }], /without a password/],
    ['a URL with a query', [{ trigger: { images: ['*'], tekton: { url: 'https://t.example.com/?a=b' } } }], /without "\?"/],
    ['an event and a workflow', [{ trigger: { images: ['*'], github: { ...github, workflow: 'a.yml', ref: 'main' } } }], /either event/],
    [
      'a tag that other policies would not recognize',
      [{ rebase: { images: ['*'], tag: '$tag-new', pushSecret: { name: 'a' } } }],
      /\$tag-base\.\$date/,
    ],
    [
      'a rule that there is not',
      [{ rebase: { images: ['*'], allow: ['UserChanged', 'UsrChanged'], pushSecret: { name: 'a' } } }],
      /spec\.onNewBase\[0\]\.rebase\.allow\[1\]: there is no rule "UsrChanged": the rules are UserChanged, .*, BaseUnverified$/,
    ],
    [
      'to sign what is on a base that is not verified',
      [{ rebase: { images: ['*'], allow: ['UserChanged'], pushSecret: { name: 'a' }, sign } }],
      /^spec: rebase\.sign signs images with whatever is pushed as their base: write verify, .* or allow: \[BaseUnverified\]$/,
    ],
    ['an image with a tag pattern', [{ restart: { images: ['Shop/Web'] } }], /without a tag/],
  ] as const;
  for (const [what, onNewBase, message] of refused) {
    it(`refuses ${what}, and says what to write`, () => {
      assert.match(problemOf(onNewBase === undefined ? undefined : { ...minimal, onNewBase }), message);
    });
  }

  it('accepts signing if the base is verified or BaseUnverified is allowed', () => {
    const rebase = { images: ['*'], pushSecret: { name: 'a' }, sign };
    const keyless = [{ issuer: 'https://issuer.example.com', identity: 'base@example.com' }];
    const { base } = readUsable({ ...minimal, verify: { cosign: { keyless } }, onNewBase: [{ rebase }] });
    assert.equal(base.verification?.signers[0]?.description, 'base@example.com (by https://issuer.example.com)');
    const allowed = readUsable({ ...minimal, onNewBase: [{ rebase: { ...rebase, allow: ['BaseUnverified'] } }] });
    assert.equal(allowed.base.verification, undefined);
    assert.match(problemOf({ ...minimal, verify: { cosign: {} } }), /spec\.verify\.cosign: write keys, keyless or both/);
  });

  it('refuses a spec with more values than are checked', () => {
    const values = Array.from({ length: 64 }, (_, index) => `v${index}`);
    const matchExpressions = Array.from({ length: 32 }, (_, index) => ({ key: `k${index}`, operator: 'NotIn', values }));
    const workloads = Array.from({ length: 64 }, () => ({ kinds: ['Deployment'], selector: { matchExpressions } }));
    assert.match(problemOf({ ...minimal, workloads }), /^spec: holds more than 4096 values/);
  });

  it('keeps a suspended policy suspended, also when its spec is wrong', () => {
    const { spec } = read({ ...minimal, select: {}, suspend: true });
    assert.ok('problem' in spec);
    assert.equal(spec.suspended, true);
  });

  it('drops a field of the status that is invalid, and keeps one that it does not know', () => {
    const { status } = read(minimal, {
      latest: { tag: 7 },
      images: { total: 2, current: 1, behind: 1, unknown: 0, unrelated: 0 },
      later: true,
    });
    assert.equal(status.latest, undefined);
    assert.equal(status.images?.behind, 1);
    assert.deepEqual((status as Record<string, unknown>)['later'], true);
  });
});
