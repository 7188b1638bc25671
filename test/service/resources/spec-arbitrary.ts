/** Specs of v1 that are mostly right: values that are sound, and some on the edge of it. */
import fc from 'fast-check';
import { ruleSeverities } from '../../../src/core/model/vulnerabilities.ts';
import { companionMatches } from '../../../src/core/model/companions.ts';
import { chartTarget } from './arbitrary-parts.ts';

/** Fields by themselves there or not. */
function some(fields: Record<string, fc.Arbitrary<unknown>>, required: string[] = []): fc.Arbitrary<object> {
  return fc.record(fields, { requiredKeys: required });
}

const list = (item: fc.Arbitrary<unknown>, minLength = 0) => fc.array(item, { minLength, maxLength: 3 });
const sometimes = (usual: fc.Arbitrary<unknown>, odd: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: odd });
const text = fc.string({ maxLength: 12 });

const name = sometimes(fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/), text);
const label = sometimes(fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/), text);
const labelValue = sometimes(fc.stringMatching(/^([A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?)?$/), text);
const labelKey = sometimes(fc.constantFrom('app', 'uses', 'app.kubernetes.io/name', 'x.y_z-0'), text);
const duration = sometimes(
  fc.stringMatching(/^[1-9]\d{0,2}(h|h\d{1,3}m|m|m\d{1,4}s|s)$/),
  fc.oneof(text, fc.stringMatching(/^(\d{1,4}h)?(\d{1,6}m)?(\d{1,8}s)?$/)),
);
const image = sometimes(
  fc.constantFrom('nginx', 'library/nginx', 'harbor.example.com/shop/web', 'localhost:5000/a', '[::1]:5000/b'),
  fc.oneof(fc.constant('A/B'), text),
);
const companion = sometimes(fc.constantFrom('shop/proxy', 'shop/agent', 'shop/init', 'localhost:5000/c'), image);
const range = sometimes(fc.constantFrom('', '*', '1.18.*', '>=1.4 <2', '^2 || ~3.1', '1.2.3-rc.1 - 2'), text);
const pattern = sometimes(fc.constantFrom('.*', '^v(?P<a>\\d+)-(.*)$', '(?<a>[a-z]+)(\\.)', '[^x]+'), text);
const extract = sometimes(fc.constantFrom('$a', '${a}', '$0', '$1.$a', 'x$a$$'), text);
const followed = list(some({ name, namespace: label }, ['name']), 1);
const provenBy = some({ policies: sometimes(followed, fc.constant([])), for: duration }, ['policies']);
const strategy = fc.oneof(
  some({ range, prereleases: fc.boolean() }).map((semver) => ({ semver })),
  fc.constantFrom('latest', 'main', 'v1_0', 'A.b-c').map((tag) => ({ digest: { tag } })),
  fc.constant({ newest: {} }),
  fc.constant({ alphabetical: {} }),
  fc.constant({ numerical: {} }),
  fc.constant({ replace: { from: 'v1.4.2', to: 'v1.4.2-base.20261123' } }),
  provenBy.map((proven) => ({ proven })),
);
const tags = fc.oneof(
  some({ allow: pattern, ignore: list(pattern) }),
  some({ allow: fc.constantFrom('^v(?P<a>\\d+)-(.*)$', '(?<a>.)(.)'), extract, ignore: list(pattern) }, ['allow', 'extract']),
);
const requirement = fc.oneof(
  some({ key: labelKey, operator: fc.constantFrom('In', 'NotIn'), values: list(labelValue, 1) }, ['key', 'operator', 'values']),
  some({ key: labelKey, operator: fc.constantFrom('Exists', 'DoesNotExist'), values: fc.constantFrom([], null) }, ['key', 'operator']),
);
const selector = some(
  { matchLabels: fc.dictionary(labelKey.map(String), labelValue, { minKeys: 1, maxKeys: 3 }), matchExpressions: list(requirement) },
  ['matchLabels'],
);
const fieldPath = sometimes(fc.constantFrom('spec.values.image.tag', 'spec.images[0].name', 'spec.a-b._c', 'data.x'), text);
const fields = fc.oneof(
  some({ image: fieldPath }, ['image']),
  some({ repository: fieldPath, tag: fieldPath }, ['tag']),
  some({ repository: fieldPath, tag: fieldPath, digest: fieldPath }, ['digest']),
);
const kind = sometimes(fc.constantFrom('Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'), text);
const apiVersion = sometimes(fc.constantFrom('apps/v1', 'v1', 'argoproj.io/v1alpha1', 'x-y.example.com/v2beta1'), text);
const containers = fc.uniqueArray(label, { minLength: 1, maxLength: 3 });
const where = { kind, namespace: label, containers, initContainers: fc.boolean(), volumes: fc.boolean(), takeOver: fc.boolean() };
const workload = fc.oneof(some({ ...where, name }, ['kind', 'name']), some({ ...where, selector }, ['kind', 'selector']));
const target = fc.oneof(
  workload,
  workload,
  some({ kind: fc.constant('HelmRelease'), apiVersion, name, fields }, ['kind', 'apiVersion', 'name', 'fields']),
);
const time = sometimes(fc.stringMatching(/^([01]\d|2[0-3]):[0-5]\d$/), text);
const zone = sometimes(fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'), text);
const days = fc.uniqueArray(fc.constantFrom('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'), { minLength: 1 });
const window = some({ days, from: time, to: time, timeZone: zone }, ['from', 'to']);
const severity = sometimes(fc.constantFrom(...ruleSeverities), fc.constantFrom('Unknown', 'critical'));
const unless = fc.record({ fixes: severity });
const update = some({
  mode: fc.constantFrom('Automatic', 'Approval', 'DryRun'),
  pin: fc.constantFrom('Tag', 'Digest', 'Digest', 'Digest', null),
  allowDowngrade: fc.boolean(),
  windows: list(window),
  windowsUnless: unless,
  after: provenBy,
});
const secretRef = some({ name, key: sometimes(fc.constantFrom('cosign.pub', 'a_b', '..x'), text) }, ['name', 'key']);

const waves = {
  maxParallel: fc.integer({ min: 1, max: 100 }),
  canaries: selector,
  pause: duration,
  maxFailures: fc.integer({ min: 1, max: 100 }),
};
const rolloutFields = {
  timeout: duration,
  onFailure: fc.constantFrom('Rollback', 'Hold', 'Ignore'),
  maxParallel: fc.integer({ min: 1, max: 100 }),
};
const rollout = fc.oneof(
  some({ ...rolloutFields, watch: fc.boolean() }),
  some({ ...rolloutFields, onFailure: fc.constantFrom('Rollback', 'Hold'), waves: some(waves) }, ['onFailure']),
);
const keys = list(some({ secretRef }, ['secretRef']), 1);
const artifact = fc.constantFrom('Image', 'Chart', 'Any');
const alongside = some(
  {
    images: fc.uniqueArray(some({ image: companion, containers }, ['image']), {
      selector: (entry) => (entry as { image: string }).image,
      minLength: 1,
      maxLength: 3,
    }),
    match: fc.constantFrom(...companionMatches),
    within: duration,
  },
  ['images'],
);
const targets = fc.oneof(list(target, 1), list(chartTarget, 1), list(fc.oneof(target, chartTarget), 1));

/** What each policy may have, whatever it selects. */
const common = {
  image,
  select: strategy,
  targets,
  update,
  rollout,
  minAge: duration,
  minAgeUnless: unless,
  poll: some({ interval: duration }),
};
const rest = { ...common, pullSecrets: list(some({ name }, ['name'])), suspend: fc.boolean() };
const platforms = fc.uniqueArray(fc.constantFrom('linux/amd64', 'linux/arm/v7', 'windows/amd64'), { maxLength: 3 });
const cosign = fc.record({ cosign: fc.record({ keys }) });
const evidence = some({
  attestations: some({ keys }),
  harbor: fc.boolean(),
  trivyOperator: fc.boolean(),
  maxAge: duration,
  notMoreThanRunning: severity,
});
const vulnerabilities = fc.record({ vulnerabilities: evidence });
const verify = fc.oneof(cosign, vulnerabilities, fc.record({ provenance: fc.record({ keys }) }));
const required = ['image', 'select', 'targets'];

/** Three kinds of policies whose fields mostly fit together, and one in which anything meets anything. */
export const specArbitrary: fc.Arbitrary<object> = fc.oneof(
  some({ ...rest, tags, platforms, verify: cosign, targets: list(workload, 1) }, required),
  some({ ...rest, tags, platforms, verify: vulnerabilities, targets: list(workload, 1) }, [...required, 'verify']),
  some({ ...rest, alongside, platforms, verify: cosign, targets: list(workload, 1) }, [...required, 'alongside']),
  some({ ...rest, artifact: fc.constant('Chart'), tags, verify, targets: list(chartTarget, 1) }, [...required, 'artifact']),
  some({ ...rest, artifact, alongside, tags, platforms, verify }, required),
);
