/** Everything that the schemas of ImagePolicy accept, CEL rules included, for property tests; a test holds them against the schemas. */
import fc from 'fast-check';
import type { Spec } from '../../../src/service/resources/v1.ts';
import { sides } from '../../../src/core/model/failure-side.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { JsonObject } from '../../../src/core/model/untyped.ts';
import { approvalRoundArbitrary, approvalsArbitrary } from './approval-arbitrary.ts';
import { checkRecordArbitrary, rolloutArbitrary } from './check-arbitrary.ts';
import { followArbitraries, keepsRules, provenBy } from './follow-arbitrary.ts';
import { alongsideArbitrary, showsPairs } from './alongside-arbitrary.ts';
import { selector } from './selector-arbitrary.ts';
import { assessmentsArbitrary, knowsEvidence, unlessArbitrary, vulnerabilityRulesArbitrary } from './vulnerability-arbitrary.ts';
import { chartTarget, fields, list, matching, some, text, windows } from './arbitrary-parts.ts';

const duration = fc
  .oneof(
    fc.constantFrom('90s', '30m', '1h', '1h30m', '0h1s', '24h', '8784h'),
    fc.stringMatching(/^(?:[0-9]{1,3}h)?(?:[0-9]{1,5}m)?(?:[0-9]{1,6}s)?$/),
  )
  .filter((text) => /[1-9]/.test(text));
/** The name of an object or of a container, where no v1alpha1 object may have another. */
const strictName = (...samples: string[]) => matching(/^[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?$/, ...samples);
const namespace = text(63, 'shop', 'ops', 'default');
const name = text(253, 'web', 'api', 'web-canary');
const repository = text(255, 'library/openjdk', 'nginx', 'harbor.example.com/shop/web', 'localhost:5000/a');
const image = repository.filter((text) => !/@|:[^/]*$|:\/\/|[A-Z]/.test(text));
const range = fc.oneof(text(512, '1.18.*', '>=1.4 <2', '^2', '', 'x'), fc.constant('>=1.0.0 || '.repeat(46)));
const pattern = text(512, '^v(?P<version>.*)-prod$', '.*', '[0-9]+', 'main-.*', `(?:${'a'.repeat(500)})`);
const kind = text(63, 'Deployment', 'StatefulSet', 'DaemonSet', 'CronJob', 'HelmRelease');

const select = fc.oneof(
  some({ range, prereleases: fc.boolean() }).map((semver) => ({ semver })),
  matching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/, 'latest', 'latest', 'main').map((tag) => ({ digest: { tag } })),
  fc.constant({ newest: {} }),
  fc.constant({ alphabetical: {} }),
  fc.constant({ numerical: {} }),
  fc.constant({ replace: { from: '1.4.2', to: '1.4.2-base.20261123' } }),
  provenBy.map((proven) => ({ proven })),
);
const ignore = list(text(512, '-debug$', 'rc'));
const tags = fc.oneof(
  some({ allow: pattern, ignore }),
  some({ allow: pattern, extract: text(512, '$version', '$0'), ignore }, ['allow', 'extract']),
);
const containers = fc.uniqueArray(strictName('web', 'sidecar'), { minLength: 1, maxLength: 3 });
const where = {
  kind,
  namespace,
  apiVersion: matching(/^(?:[a-z0-9](?:[a-z0-9.-]{0,9}[a-z0-9])?\/)?v[0-9]{1,3}$/, 'apps/v1', 'argoproj.io/v1alpha1'),
};
const own = { ...where, containers, initContainers: fc.boolean(), volumes: fc.boolean(), takeOver: fc.boolean() };
const target = fc.oneof(
  some({ ...own, name }, ['kind', 'name']),
  some({ ...own, selector }, ['kind', 'selector']),
  some({ ...where, initContainers: fc.constant(false), name, fields }, ['kind', 'name', 'apiVersion', 'fields']),
  chartTarget,
);
const mode = fc.constantFrom('Automatic', 'Approval', 'DryRun');
const approvals = approvalsArbitrary(duration);
const pin = fc.constantFrom('Tag', 'Digest');
const key = some(
  { secretRef: some({ name: strictName('cosign'), key: matching(/^[A-Za-z0-9._-]{1,20}$/, 'cosign.pub') }, ['name', 'key']) },
  ['secretRef'],
);
const platforms = fc.uniqueArray(fc.constantFrom('linux/amd64', 'linux/arm/v7', 'windows/amd64'), { maxLength: 3 });
const pullSecrets = list(some({ name: strictName('harbor-creds') }, ['name']));
const rollout = rolloutArbitrary(duration, selector);
const signer = fc
  .record({ issuer: fc.constant('https://a.example') })
  .chain((issuer) => fc.constantFrom({ ...issuer, identity: 'ada@example.com' }, { ...issuer, identityPattern: '.*' }));
const cosign = fc.oneof(
  fc.record({ keys: list(key, 1) }),
  fc.record({ keyless: list(signer, 1) }),
  fc.record({ keys: list(key, 1), keyless: list(signer, 1) }),
);
const provenance = fc.record({ keys: list(key, 1) });
const vulnerabilities = vulnerabilityRulesArbitrary(cosign, duration);
const verify = fc.oneof(
  fc.record({ cosign }),
  fc.record({ provenance }),
  fc.record({ cosign, provenance }),
  fc.record({ vulnerabilities }),
);
const poll = some({ interval: duration });

const wholeSpec = some(
  {
    image,
    alongside: alongsideArbitrary({ image, containers, duration }),
    artifact: fc.constantFrom('Image', 'Chart', 'Any'),
    select,
    tags,
    platforms,
    minAge: duration,
    minAgeUnless: unlessArbitrary,
    pullSecrets,
    targets: list(target, 1),
    update: some({ mode, approvals, pin, allowDowngrade: fc.boolean(), windows, windowsUnless: unlessArbitrary, after: provenBy }).filter(
      (one) => !('approvals' in one) || one.mode === 'Approval',
    ),
    rollout,
    verify,
    poll,
    suspend: fc.boolean(),
  },
  ['image', 'select', 'targets'],
);

const nothingIgnored = fc.constant<string[]>([]);
const plainTarget = some({ kind: fc.constant('Deployment'), name, namespace, initContainers: fc.constant(false) }, ['kind', 'name']);

/** Of what v1alpha1 can express too. */
const visibleSpec = fc
  .tuple(
    fc.oneof(
      fc.record({
        select: fc.oneof(
          some({ range, prereleases: fc.constant(false) }).map((semver) => ({ semver })),
          fc.constant({ digest: { tag: 'latest' } }),
        ),
      }),
      fc.record({
        select: fc.constant({ alphabetical: {} }),
        tags: some({ allow: pattern, ignore: nothingIgnored }),
      }),
    ),
    some(
      {
        image,
        pullSecrets,
        targets: plainTarget.map((one) => [one]),
        update: some({ mode: fc.constant('Automatic'), allowDowngrade: fc.constant(false), windows: fc.constant([]) }),
        rollout,
        poll,
        suspend: fc.constant(false),
      },
      ['image', 'targets'],
    ),
    fc.boolean(),
  )
  .map(([choice, rest, writesPin]) => {
    const defaultPin = 'digest' in choice.select ? 'Digest' : 'Tag';
    return { ...rest, ...choice, ...(writesPin && { update: { ...rest.update, pin: defaultPin } }) };
  });

/** A policy that v1alpha1 can express but for one field at most, anything that v1 knows in the others. */
const nearlyVisibleSpec = fc.tuple(visibleSpec, wholeSpec, fc.nat()).map(([visible, whole, index]) => {
  const entries = Object.entries(whole);
  const [field, value] = entries[index % entries.length] ?? [];
  return field === undefined ? visible : { ...visible, [field]: value };
});

/** The JSON that goes over the wire. */
export function wire<T>(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<T> {
  return arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as T);
}

/** Every v1 spec that the API server accepts; a good part of them can be seen as v1alpha1. */
export const v1SpecArbitrary: fc.Arbitrary<Spec> = wire(
  fc
    .oneof({ weight: 3, arbitrary: wholeSpec }, { weight: 3, arbitrary: nearlyVisibleSpec }, { weight: 2, arbitrary: visibleSpec })
    .filter((spec) => keepsRules(spec) && showsPairs(spec) && knowsEvidence(spec)),
);

/** v1 specs that v1alpha1 can express. */
export const visibleV1SpecArbitrary: fc.Arbitrary<Spec> = wire(visibleSpec);

const date = fc.date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true });
export const dateTime = date.map((value) => value.toISOString().replace(/\.\d{3}Z$/, 'Z'));
const digest = text(160, `sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`);
const tag = text(128, '1.4.2', 'latest', 'main-20261121');
const runningImage = text(1024, 'harbor.example.com/shop/web:1.4.2', 'nginx');
const message = text(1024, 'up to date', 'the registry says no: "401"');
const reason = text(64, 'UpToDate', 'MinAge', 'NoConsent');
const container = text(63, 'web', 'sidecar');
const source = fc.constantFrom(
  'Webhook',
  'Poll',
  'PolicyChange',
  'TargetChange',
  'SecretChange',
  'WaitOver',
  'Approval',
  'Rollback',
  'Request',
);
const workload = { apiVersion: text(317, 'argoproj.io/v1alpha1'), kind: text(63, 'Deployment', 'StatefulSet'), namespace, name };
const object = { ...workload, uid: text(63, 'd290f1ee') };
const count = fc.nat({ max: 1_000_000 });
const counts = { progressing: count, done: count, failed: count, rolledBack: count };
const condition = some(
  {
    type: text(316, 'Ready', 'Stalled', 'Reconciling', 'Held'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason,
    message,
    lastTransitionTime: dateTime,
    observedGeneration: count,
  },
  ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
);
/** A list map: each type once. */
const conditions = fc.uniqueArray(condition, { maxLength: 4, selector: ({ type }) => type });
const change = some(
  {
    ...object,
    setDigest: digest,
    alongside: list(fc.record({ container, from: runningImage, to: runningImage })),
    container,
    from: runningImage,
    to: runningImage,
    tag,
    digest,
    trigger: source,
    at: dateTime,
    result: fc.constantFrom('Applied', 'RolledOut', 'RolledBack', 'Failed'),
    failure: some({ against: fc.constantFrom(...sides), reason, message }, ['against', 'reason', 'message']),
    rollbackRefused: some({ reason, message, at: dateTime }, ['reason', 'message', 'at']),
  },
  ['kind', 'namespace', 'name', 'container', 'from', 'to', 'tag', 'trigger', 'at', 'result'],
);

const companions = list(fc.record({ image: repository, tag, digest }));
const cause = { source, receiver: text(63, 'harbor'), event: text(128, 'e1') };

/** Every v1 status that the API server accepts. */
export const v1StatusArbitrary: fc.Arbitrary<PolicyStatus> = wire(
  some({
    observedGeneration: count,
    conditions,
    latest: some(
      {
        tag,
        digest,
        setDigest: digest,
        companions,
        createdAt: dateTime,
        selectedAt: dateTime,
      },
      ['tag', 'selectedAt'],
    ),
    trigger: some({ ...cause, receivedAt: dateTime, handledAt: dateTime }, ['source', 'handledAt']),
    lastCheckTime: dateTime,
    lastHandledRequest: text(253, '2026-11-21T10:00:00Z'),
    lastHandledRollback: text(253, 'previous'),
    lastRollbackProblem: text(1_024, 'nothing was rolled back: all targets run 1.2.3 already'),
    lastHandledRejection: text(253, '1.0.0@sha256:a'),
    rollback: some({ request: text(253, 'previous'), tag, digest, companions }, ['request', 'tag', 'digest']),
    waiting: some({ tag, digest, setDigest: digest, since: dateTime, until: dateTime, reason }, ['until', 'reason']),
    refused: some({ tag, digest }, ['tag']),
    announced: some({ tag, digest, event: text(128, 'abc') }, ['tag', 'event']),
    running: text(140, '1.4.2,+1'),
    targets: list(
      some(
        {
          ...object,
          container,
          companion: fc.boolean(),
          image: runningImage,
          state: fc.constantFrom('UpToDate', 'Kept', 'Problem'),
          reason,
          message,
        },
        ['kind', 'namespace', 'name', 'state'],
      ),
    ),
    targetCounts: some({ total: count, upToDate: count, problems: count, unlisted: text(64, '0123456789abcdef') }, [
      'total',
      'upToDate',
      'problems',
    ]),
    rollouts: some({ ...counts, settledAt: dateTime, lastDoneAt: dateTime }, ['progressing', 'done', 'failed', 'rolledBack']),
    lastAppliedTag: tag,
    history: list(change),
    incomplete: list(some({ tag, digest, missing: list(runningImage), since: dateTime }, ['tag', 'missing', 'since'])),
    rejected: list(some({ digest, setDigest: digest, tag, reason, message, at: dateTime }, ['digest', 'reason', 'at'])),
    checks: list(checkRecordArbitrary({ dateTime, digest, tag, message })),
    reverted: list(
      some({ ...workload, container, tag, digest, count: fc.integer({ min: 1, max: 9 }), at: dateTime }, [
        'kind',
        'namespace',
        'name',
        'container',
        'tag',
        'count',
        'at',
      ]),
    ),
    vulnerabilities: assessmentsArbitrary({ tag, digest, dateTime, image: runningImage }),
    pendingApproval: some({ tag, digest, images: list(runningImage) }, ['tag', 'digest']),
    approvals: approvalRoundArbitrary({ tag, digest, dateTime }),
    ...followArbitraries({ tag, digest, dateTime, message, namespace, name }),
  }),
);

/** Every v1alpha1 spec as the API server hands it on: it has written the default of pollIntervalMinutes. */
export const v1alpha1SpecArbitrary: fc.Arbitrary<JsonObject> = wire(
  some(
    {
      repository,
      tagPolicy: some({ strategy: fc.constantFrom('SemVer', 'Latest', 'Regex'), pattern: fc.oneof(range, pattern, fc.constant('')) }, [
        'strategy',
      ]),
      updateTarget: some({ kind, name, namespace }, ['kind', 'name', 'namespace']),
      pollIntervalMinutes: fc.oneof(fc.constantFrom(1, 5, 60, 527_040), fc.integer({ min: 1, max: 527_040 })),
    },
    ['repository', 'tagPolicy', 'updateTarget', 'pollIntervalMinutes'],
  ),
);

const shownStatus = { observedGeneration: count, lastCheckedTime: dateTime, lastAppliedTag: tag, conditions };

/** Every v1alpha1 status as an older service writes it. */
export const olderStatusArbitrary: fc.Arbitrary<JsonObject> = wire(some(shownStatus));

/** Every v1alpha1 status that the API server accepts. */
export const v1alpha1StatusArbitrary: fc.Arbitrary<JsonObject> = wire(
  some({ ...shownStatus, v1: fc.oneof(v1StatusArbitrary, fc.dictionary(fc.string(), fc.jsonValue())) }),
);
