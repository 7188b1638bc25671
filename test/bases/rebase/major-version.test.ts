/** Major versions of bases, with tags as Temurin, Corretto, Distroless, UBI, Alpine, Debian, Node, Python, .NET, Bitnami and Chainguard have them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { haveOtherMajors, majorsOf, sameMajors } from '../../../src/bases/rebase/rules/major-numbers.ts';
import { majorVersion } from '../../../src/bases/rebase/rules/major-version.ts';
import { planRebase } from '../../../src/bases/rebase/plan-rebase.ts';
import { request } from './samples.ts';

const same = [
  ['21.0.1', '21.0.2'],
  ['21.0.1_12-jre', '21.0.2_13-jre'],
  ['8u392-b08', '8u402-b06'],
  ['8u392-b08-jdk-jammy', '8u402-b06-jdk-jammy'],
  ['jre-17', 'jre-17'],
  ['17-jre', '17.0.9-jre'],
  ['21-al2023', '21.0.2-al2023'],
  ['java21-debian12', 'java21-debian12'],
  ['9.3-1476', '9.4-949'],
  ['9.3-1476.1699548032', '9.4-949.1716471857'],
  ['3.20', '3.20.1'],
  ['21.0.1-alpine3.19', '21.0.2-alpine3.20'],
  ['bookworm-20240110-slim', 'bookworm-20240211-slim'],
  ['20.11.0-bookworm-slim', '20.11.1-bookworm-slim'],
  ['v1.9', 'v1.10-slim'],
  ['8.0-jammy', '8.0.2-jammy'],
  ['latest', 'latest'],
  ['latest', '21'],
  ['stable-3f2a91c', 'stable-9d81b04'],
  ['1.0-rc1', '1.0-rc2'],
  ['21.0.2-13-debian-12-r3', '21.0.3-9-debian-12-r0'],
  ['3.12-dev', '3.12.4-dev'],
  ['nonroot', 'nonroot-amd64'],
] as const;
const different = [
  ['21.0.1', '22'],
  ['jre-17', 'jre-21'],
  ['jre-17', '21'],
  ['17-jre', '21-jre'],
  ['8u392-b08', '11.0.2'],
  ['8u392-b08-jre', '11.0.21_9-jre'],
  ['java17-debian12', 'java21-debian12'],
  ['java17-debian11', 'java17-debian12'],
  ['nodejs20-debian12', 'nodejs22-debian12'],
  ['ubi8', 'ubi9'],
  ['8.9-1107', '9.3-1476'],
  ['openjdk-17', 'openjdk-21'],
  ['corretto-17-al2', 'corretto-21-al2'],
  ['20-bookworm', '22-bookworm'],
  ['6.0-alpine3.18', '8.0-alpine3.18'],
  ['v1.9', 'v2.0-slim'],
  ['21.0.2-13-debian-11-r3', '21.0.3-9-debian-12-r0'],
] as const;

for (const [rows, expected] of [
  [same, true],
  [different, false],
] as const)
  for (const [before, after] of rows)
    test(`${before} and ${after} are of ${expected ? 'the same' : 'another'} major version`, () => {
      assert.equal(sameMajors(majorsOf(before), majorsOf(after)), expected);
      assert.equal(sameMajors(majorsOf(after), majorsOf(before)), expected);
    });

const underLatest = [
  ['17.0.9', '21.0.1', true],
  ['21.0.1', '21.0.2', false],
  ['17 17.0.9', '21', false],
  ['17.0.9_9-jre', '21.0.1_12-jre', true],
  ['8u392-b08', '11.0.2', true],
  ['8u392-b08-jre', '8u402-b06-jre', false],
  ['v1.9.4', 'v2.0.0', true],
  ['17.0.9 21.0.0-rc1', '21.0.1', false],
  ['21.0.1-alpine3.18', '21.0.2-alpine3.20', false],
  ['21.0.1-alpine3.18', '21.0.2-debian12', false],
  ['21.0.2-13-debian-11-r3', '21.0.2-14-debian-12-r0', true],
  ['3.18.4', '3.19.0', false],
  ['9.3-1476', '9.4-949', false],
  ['8.9-1107', '9.3-1476', true],
  ['45', '46', false],
  ['build-45', 'build-46', false],
  ['main-45.1', 'main-46.1', false],
  ['20231115.1', '20240115.1', false],
  ['2023.11.15', '2024.01.15', false],
  ['2023-11-15', '2024-01-15', false],
  ['2023.3.20231218.0', '2024.1.20240131.0', false],
  ['stable-3f2a91c', 'stable-9d81b04', false],
  ['', '21.0.1', false],
] as const;

for (const [before, after, isOther] of underLatest)
  test(`a rebase of latest from ${before || 'no other tag'} to ${after} is ${isOther ? 'refused' : 'accepted'}`, () => {
    const [old, next] = [before, after].map((tags) => ['latest', ...tags.split(' ').filter(Boolean)]);
    assert.equal(haveOtherMajors(old ?? [], next ?? []), isOther);
    assert.equal(haveOtherMajors(next ?? [], old ?? []), isOther);
    const wanted = request({ oldBase: { tag: 'latest' }, newBase: { tag: 'latest' } });
    const [oldBase] = wanted.oldBases;
    assert.ok(oldBase !== undefined);
    const baseTags = new Map([
      [oldBase.digest, old ?? []],
      [wanted.newBase.digest, next ?? []],
    ]);
    const result = planRebase({ ...wanted, baseTags });
    assert.deepEqual(result.kind === 'refused' ? result.rules : [], isOther ? [majorVersion.id] : []);
  });

const variables = [
  ['JAVA_VERSION=jdk-21.0.1+12', 'JAVA_VERSION=jdk-21.0.2+13', true],
  ['JAVA_VERSION=jdk-21.0.1+12', 'JAVA_VERSION=jdk-25+36', false],
  ['JAVA_VERSION=jdk8u392-b08', 'JAVA_VERSION=jdk8u402-b06', true],
  ['JAVA_VERSION=jdk8u392-b08', 'JAVA_VERSION=jdk-11.0.21+9', false],
  ['JAVA_VERSION=21', 'JAVA_VERSION=25', false],
  ['NODE_VERSION=20.11.0', 'NODE_VERSION=20.12.1', true],
  ['NODE_VERSION=20.11.0', 'NODE_VERSION=22.0.0', false],
  ['NODEJS_VERSION=20', 'NODEJS_VERSION=22', false],
  ['DOTNET_CORE_VERSION=6.0', 'DOTNET_CORE_VERSION=8.0', false],
  ['PYTHON_VERSION=3.12.1', 'PYTHON_VERSION=3.12.2', true],
  ['PYTHON_VERSION=3.11.7', 'PYTHON_VERSION=3.12.1', false],
  ['GOLANG_VERSION=1.21.5', 'GOLANG_VERSION=1.22.0', true],
  ['RUBY_VERSION=3.2.2', 'RUBY_VERSION=3.3.0', false],
  ['PHP_VERSION=8.2.14', 'PHP_VERSION=8.3.1', false],
  ['DOTNET_VERSION=8.0.1', 'DOTNET_VERSION=8.0.2', true],
  ['ASPNET_VERSION=6.0.26', 'ASPNET_VERSION=8.0.1', false],
  ['NGINX_VERSION=1.25.3', 'NGINX_VERSION=1.26.0', true],
  ['ELIXIR_VERSION=v1.16.0', 'ELIXIR_VERSION=v1.17.1', false],
  ['SWIFT_VERSION=swift-5.9.2-RELEASE', 'SWIFT_VERSION=swift-5.10-RELEASE', true],
  ['SWIFT_VERSION=swift-5.10-RELEASE', 'SWIFT_VERSION=swift-6.0-RELEASE', false],
  ['TOMCAT_VERSION=9.0.85', 'TOMCAT_VERSION=10.1.18', false],
  ['JETTY_VERSION=11.0.20', 'JETTY_VERSION=12.0.6', false],
  ['HTTPD_VERSION=2.4.58', 'HTTPD_VERSION=2.4.59', true],
  ['HAPROXY_VERSION=2.8.5', 'HAPROXY_VERSION=2.9.3', false],
  ['PG_MAJOR=15', 'PG_MAJOR=16', false],
  ['MYSQL_MAJOR=8.0', 'MYSQL_MAJOR=8.4', false],
  ['MONGO_MAJOR=6.0', 'MONGO_MAJOR=7.0', false],
  ['REDIS_VERSION=7.2.4', 'REDIS_VERSION=7.4.0', true],
  ['DENO_VERSION=1.46.3', 'DENO_VERSION=2.0.0', false],
  ['JULIA_VERSION=1.10.0', 'JULIA_VERSION=1.10.1', true],
] as const;

for (const [before, after, isSame] of variables)
  test(`a rebase under a tag without a number from ${before} to ${after} is ${isSame ? 'accepted' : 'refused'}`, () => {
    const base = (env: string) => ({ tag: 'latest', config: { Env: [env] } });
    const result = planRebase(
      request({ application: { config: { Env: [before] } }, oldBase: base(before), newBase: base(after), allow: ['EnvironmentChanged'] }),
    );
    assert.deepEqual(result.kind === 'refused' ? result.rules : [], isSame ? [] : [majorVersion.id]);
  });

test('a rebase is refused if one of several signs shows another major version', () => {
  const result = planRebase(
    request({
      oldBase: { tag: '1.0.1', config: { Labels: { 'org.opencontainers.image.version': '22.04' } } },
      newBase: { tag: '1.0.2', config: { Labels: { 'org.opencontainers.image.version': '24.04' } } },
    }),
  );
  assert.ok(result.kind === 'refused');
  assert.match(result.message, /from "22\.04" to "24\.04"/);
});
