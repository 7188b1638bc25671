import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartRepository, tagOfVersion, versionOfTag } from '../../../src/core/model/oci-chart.ts';

const rows: [name: string, url: string, chart: string, expected: string | undefined][] = [
  ['a whole URL', 'oci://ghcr.io/charts/web', '', 'ghcr.io/charts/web'],
  ['a URL with a port', 'oci://localhost:5000/web', '', 'localhost:5000/web'],
  ['a host and a name', 'ghcr.io/charts', 'web', 'ghcr.io/charts/web'],
  ['a host alone and a name with folders', 'registry.example.com', 'team/web', 'registry.example.com/team/web'],
  ['Docker Hub', 'registry-1.docker.io/bitnamicharts', 'nginx', 'registry-1.docker.io/bitnamicharts/nginx'],
  ['a single name at Docker Hub, which nobody completes', 'oci://docker.io/nginx', '', undefined],
  ['a URL and a name, of which Argo CD uses the URL alone', 'oci://ghcr.io/charts', 'web', undefined],
  ['no scheme and no name, as of a Git repository', 'github.com/charts/web', '', undefined],
  ['a Helm repository', 'https://charts.example.com', 'web', undefined],
  ['a Git repository', 'https://github.com/charts/web.git', '', undefined],
  ['a Git repository by SSH', 'git@github.com:charts/web.git', 'web', undefined],
  ['a path at Docker Hub, which no chart has', 'oci://charts/web', '', undefined],
  ['a name alone', '', 'web', undefined],
  ['nothing', '', '', undefined],
  ['a tag', 'oci://ghcr.io/charts/web:1.2.3', '', undefined],
  ['a digest', `oci://ghcr.io/charts/web@sha256:${'a'.repeat(64)}`, '', undefined],
  ['a query', 'oci://ghcr.io/charts/web?x', '', undefined],
  ['a slash at the end', 'oci://ghcr.io/charts/', '', undefined],
  ['a name that begins with a slash', 'ghcr.io/charts', '/web', undefined],
  ['a template', '{{.url}}', 'web', undefined],
  ['a text of a megabyte', `oci://ghcr.io/${'a'.repeat(1e6)}`, '', undefined],
];
for (const [name, url, chart, expected] of rows)
  test(`${name} names ${expected ?? 'no OCI repository'}`, () => assert.equal(chartRepository(url, chart), expected));

test('the tag of a chart has "_" where its version has "+"', () => {
  assert.equal(tagOfVersion('1.2.3-rc.1+build.5'), '1.2.3-rc.1_build.5');
  assert.equal(versionOfTag('1.2.3-rc.1_build.5'), '1.2.3-rc.1+build.5');
});
