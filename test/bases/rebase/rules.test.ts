/** What a new base must not change, rule by rule. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planRebase } from '../../../src/bases/rebase/plan-rebase.ts';
import type { FileSigns } from '../../../src/bases/rebase/file-signs.ts';
import { rules } from '../../../src/bases/rebase/rules/index.ts';
import { request, type RequestSample, unsigned } from './samples.ts';
import type { RunConfig } from '../../../src/bases/rebase/content.ts';

/** The configurations of the old and the new base, and of the application; it has that of the old base unless given. */
const configs = (oldBase: RunConfig, newBase: RunConfig, application: RunConfig = oldBase): RequestSample => ({
  application: { config: application },
  oldBase: { config: oldBase },
  newBase: { config: newBase },
});
const env = (oldBase: string[], newBase: string[], application = oldBase) =>
  configs({ Env: oldBase }, { Env: newBase }, { Env: application });
const signed = { isSigned: true, isSignedByOwnKey: true, willBeSigned: true, isBaseVerified: true, isOldBaseVerified: true };
const files = (oldBase: FileSigns, newBase: FileSigns): RequestSample => ({ oldBase: { files: oldBase }, newBase: { files: newBase } });
const windows = (version: string) => ({ fields: { 'os.version': version } });

const refused: Record<string, readonly (readonly [name: string, sample: RequestSample, message: RegExp])[]> = {
  UserChanged: [
    ['the user changes', configs({ User: 'app' }, { User: 'root' }), /user of the base changes from "app" to "root"/],
    ['a user is new', configs({}, { User: 'app' }), /from nothing to "app"/],
    ['the user is root then', configs({ User: 'app' }, {}), /from "app" to nothing/],
    [
      'on one platform',
      {
        application: { platforms: ['linux/amd64', 'linux/arm64'], config: { User: 'a' } },
        oldBase: { platforms: ['linux/amd64', 'linux/arm64'], config: { User: 'a' } },
        newBase: { platforms: ['linux/amd64', 'linux/arm64'], config: { User: 'b' } },
      },
      /"a" to "b"/,
    ],
  ],
  EntrypointChanged: [
    [
      'the entrypoint changes',
      configs({ Entrypoint: ['/a'] }, { Entrypoint: ['/b'] }),
      /entrypoint of the base changes from "\/a" to "\/b"/,
    ],
    ['the command changes', configs({ Cmd: ['a'] }, { Cmd: ['b'] }), /command of the base changes/],
    [
      'the application has its own command for it',
      configs({ Entrypoint: ['/a'] }, { Entrypoint: ['/b'] }, { Entrypoint: ['/a'], Cmd: ['x'] }),
      /entrypoint/,
    ],
  ],
  LifecycleChanged: [
    [
      'the stop signal changes',
      configs({ StopSignal: 'SIGQUIT' }, { StopSignal: 'SIGTERM' }),
      /stop signal of the base changes from "SIGQUIT" to "SIGTERM"/,
    ],
    [
      'a health check is new',
      configs({}, { Healthcheck: { Test: ['CMD', '/check'] } }),
      /health check of the base changes from nothing to/,
    ],
  ],
  EnvironmentChanged: [
    ['an option of Java is set', env([], ['_JAVA_OPTIONS=-Xmx64m']), /"_JAVA_OPTIONS" of the base is new/],
    ['options of Node change', env(['NODE_OPTIONS=--a'], ['NODE_OPTIONS=--b']), /"NODE_OPTIONS"/],
    ['Python searches elsewhere', env([], ['PYTHONPATH=/opt']), /"PYTHONPATH" of the base is new/],
    ['a proxy is set', env([], ['https_proxy=http://proxy.example.com']), /"https_proxy" of the base is new/],
    ['hosts are not reached by the proxy any more', env(['NO_PROXY=.local'], ['NO_PROXY=.corp']), /"NO_PROXY"/],
    ['a variable is removed', env(['TZ=UTC'], []), /variable "TZ" of the base is removed; it was "UTC"/],
    ['PATH loses a folder', env(['PATH=/opt/a:/bin'], ['PATH=/bin']), /"PATH" of the base changes/],
    ['PATH has another order', env(['PATH=/opt/a:/bin'], ['PATH=/bin:/opt/a']), /"PATH"/],
    ['a home changes', env(['JAVA_HOME=/opt/21.0.1'], ['JAVA_HOME=/opt/21.0.2']), /"JAVA_HOME"/],
    ['a library is preloaded', env([], ['LD_PRELOAD=/lib/x.so']), /"LD_PRELOAD" of the base is new/],
    ['options of Java change', env(['JAVA_TOOL_OPTIONS=-Xmx1g'], ['JAVA_TOOL_OPTIONS=-Xmx2g']), /"JAVA_TOOL_OPTIONS"/],
    [
      'the application has built a value from it',
      env(['JAVA_DIR=/opt/java-1'], ['JAVA_DIR=/opt/java-2'], ['JAVA_DIR=/opt/java-1', 'PATH=/opt/java-1/bin:/bin']),
      /the application has set "PATH" to "\/opt\/java-1\/bin:\/bin", which contains it/,
    ],
    ['the application has extended PATH', env(['PATH=/opt/a:/bin'], ['PATH=/opt/b:/bin'], ['PATH=/app:/opt/a:/bin']), /"PATH"/],
  ],
  WorkingDirectoryChanged: [['the folder changes', configs({ WorkingDir: '/a' }, { WorkingDir: '/b' }), /from "\/a" to "\/b"/]],
  PortsChanged: [
    ['a port is new', configs({}, { ExposedPorts: { '80/tcp': {} } }), /exposes the port "80\/tcp"/],
    ['a port is gone', configs({ ExposedPorts: { '80/tcp': {} } }, {}), /no longer exposes the port "80\/tcp"/],
  ],
  VolumesChanged: [['a volume is new', configs({}, { Volumes: { '/data': {} } }), /declares the volume "\/data"/]],
  OnBuildChanged: [['an instruction is new', configs({}, { OnBuild: ['RUN x'] }), /ONBUILD/]],
  OperatingSystemChanged: [
    [
      'Windows has another version',
      { application: windows('10.0.1'), oldBase: windows('10.0.1'), newBase: windows('10.0.2') },
      /os\.version/,
    ],
    ['it needs a feature', { newBase: { fields: { 'os.features': ['win32k'] } } }, /os\.features/],
  ],
  DistributionChanged: [
    ['the C library changes', files({ libc: 'glibc' }, { libc: 'musl' }), /C library of the base changes from glibc to musl/],
    [
      'the package manager changes',
      files({ libc: 'glibc', packages: 'dpkg' }, { libc: 'glibc', packages: 'apk' }),
      /package manager of the base changes from dpkg to apk/,
    ],
    [
      'the distribution changes',
      files({ packages: 'dpkg', system: 'debian' }, { packages: 'dpkg', system: 'ubuntu' }),
      /distribution of the base changes from debian to ubuntu/,
    ],
  ],
  AbiChanged: [
    [
      'another stack',
      configs({ Labels: { 'io.buildpacks.stack.id': 'jammy' } }, { Labels: { 'io.buildpacks.stack.id': 'noble' } }),
      /stack\.id/,
    ],
    ['another ABI', configs({ Labels: { 'com.example.abi': '1' } }, { Labels: { 'com.example.abi': '2' } }), /com\.example\.abi/],
    [
      'a mixin is lost',
      configs(
        { Labels: { 'io.buildpacks.stack.mixins': '["git","curl"]' } },
        { Labels: { 'io.buildpacks.stack.mixins': '["curl","wget"]' } },
      ),
      /no longer has the mixin "git"/,
    ],
    ['the application forbids it', configs({}, {}, { Labels: { 'io.buildpacks.rebasable': 'false' } }), /rebasable=false/],
  ],
  MajorVersionChanged: [
    ['tags', { oldBase: { tag: '21.0.1' }, newBase: { tag: '22' } }, /"21\.0\.1" to "22"/],
    ['tags with v', { oldBase: { tag: 'v1.9' }, newBase: { tag: 'v2.0-slim' } }, /"v1\.9"/],
    [
      'labels, where tags have no number',
      {
        oldBase: { tag: 'old', config: { Labels: { 'org.opencontainers.image.version': '1.2' } } },
        newBase: { tag: 'new', annotations: { 'org.opencontainers.image.version': '2.0' } },
      },
      /"1\.2" to "2\.0"/,
    ],
    [
      'the release of the distribution, where nothing else has a number',
      {
        oldBase: { tag: 'latest', files: { system: 'debian', release: 12 } },
        newBase: { tag: 'latest', files: { system: 'debian', release: 13 } },
      },
      /distribution of the base changes from debian 12 to debian 13/,
    ],
  ],
  SignatureLost: [
    ['nothing signs the result', { signatures: { ...unsigned, isSigned: true } }, /would not be: name a key/],
    ['another key signs it', { signatures: { ...unsigned, isSigned: true, willBeSigned: true } }, /not signed with the key that signs/],
  ],
  SignatureAdded: [
    ['a key signs it for the first time', { signatures: { ...unsigned, willBeSigned: true } }, /application is not signed, but/],
  ],
  BaseUnverified: [
    ["the base may be anybody's", { signatures: { ...signed, isBaseVerified: false } }, /signatures of the base are not verified/],
    [
      "the old base, whose layers are removed, may be anybody's",
      { signatures: { ...signed, isOldBaseVerified: false } },
      /without the layers of the old base, whose signatures are missing/,
    ],
  ],
};

for (const [rule, samples] of Object.entries(refused)) {
  describe(`the rule ${rule} of rebases`, () => {
    for (const [name, sample, message] of samples) {
      test(`refuses, unless it is allowed: ${name}`, () => {
        const result = planRebase(request(sample));
        assert.equal(result.kind, 'refused');
        assert.ok(result.kind === 'refused');
        assert.deepEqual([result.reason, result.rules], [rule, [rule]]);
        assert.match(result.message, message);
        assert.equal(planRebase(request({ ...sample, allow: [rule] })).kind, 'plan');
      });
    }
  });
}

test('every rule of rebases has a case that it refuses', () =>
  assert.deepEqual(
    Object.keys(refused),
    rules.map(({ id }) => id),
  ));

const accepted: Record<string, RequestSample> = {
  'the same C library': files({ libc: 'musl', packages: 'apk' }, { libc: 'musl', packages: 'apk' }),
  'the same release': files({ system: 'alpine', release: 3 }, { system: 'alpine', release: 3 }),
  'a release without a number': files({ system: 'debian', release: 12 }, { system: 'debian' }),
  'a base without signs': files({ libc: 'glibc', packages: 'dpkg' }, {}),
  'nothing changes': {},
  'root is named': configs({}, { User: 'root' }),
  'root is named by its number': configs({ User: 'root' }, { User: '0' }),
  'a mixin only for builds is lost': configs({ Labels: { 'io.buildpacks.stack.mixins': '["build:git"]' } }, {}),
  'the application has its own stop signal': configs({ StopSignal: 'SIGINT' }, { StopSignal: 'SIGTERM' }, { StopSignal: 'SIGQUIT' }),
  'the application has its own user': configs({ User: 'a' }, { User: 'b' }, { User: 'own' }),
  'the application has its own entrypoint': configs(
    { Entrypoint: ['a'], Cmd: ['x'] },
    { Entrypoint: ['b'], Cmd: ['y'] },
    { Entrypoint: ['own'] },
  ),
  'the application has its own command': configs({ Cmd: ['x'] }, { Cmd: ['y'] }, { Cmd: ['own'] }),
  'a version changes': env(['JAVA_VERSION=21.0.1'], ['JAVA_VERSION=21.0.2']),
  'PATH has more folders': env(['PATH=/a:/b'], ['PATH=/new:/a:/c:/b']),
  'PATH has more folders, and the application has extended it': env(['PATH=/aa:/bb'], ['PATH=/aa:/bb:/cc'], ['PATH=/app:/aa:/bb']),
  'a variable is new': env([], ['TZ=UTC']),
  'the application has its own variable': env(['JAVA_HOME=/a'], ['JAVA_HOME=/b'], ['JAVA_HOME=/own']),
  'the application removed the volume': configs({ Volumes: { '/x': {} } }, {}, {}),
  'the application has its own folder': configs({ WorkingDir: '/a' }, { WorkingDir: '/b' }, { WorkingDir: '/own' }),
  'the ports are in another order': configs({ ExposedPorts: { '1/tcp': {}, '2/tcp': {} } }, { ExposedPorts: { '2/tcp': {}, '1/tcp': {} } }),
  'the same major version': { oldBase: { tag: '21.0.1-jre' }, newBase: { tag: '21-jre' } },
  'no version is known': { oldBase: { tag: 'bookworm' }, newBase: { tag: 'trixie' } },
  'the same key signs it': { signatures: signed },
  'nothing is signed, on bases that are not verified': { signatures: { ...unsigned, isBaseVerified: false, isOldBaseVerified: false } },
};

for (const [name, sample] of Object.entries(accepted)) {
  test(`the rules of rebases accept: ${name}`, () => {
    const result = planRebase(request(sample));
    assert.equal(result.kind, 'plan', result.kind === 'refused' ? result.message : '');
  });
}

test('a refused rebase names all violated rules, without control characters', () => {
  const result = planRebase(request(configs({ User: 'a', WorkingDir: '/a' }, { User: '\u001B[31mroot', WorkingDir: '/b' })));
  assert.ok(result.kind === 'refused');
  assert.deepEqual(result.rules, ['UserChanged', 'WorkingDirectoryChanged']);
  assert.match(result.message, /"\?\[31mroot" \(UserChanged\); the working directory/);
});
