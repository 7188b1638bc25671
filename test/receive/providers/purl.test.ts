import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOciPurl } from '../../../src/receive/providers/purl.ts';

const digest = `sha256:${'a'.repeat(64)}`;

for (const [purl, expected] of [
  ['pkg:oci/app?tag=v1', { repository: 'app', tag: 'v1' }],
  ['pkg:oci/app', { repository: 'app' }],
  ['pkg:oci/app?repository_url=r.example.com/team/app&tag=v1', { registry: 'r.example.com', repository: 'team/app', tag: 'v1' }],
  ['pkg:oci/app?repository_url=r.example.com/team&tag=v1', { registry: 'r.example.com', repository: 'team/app', tag: 'v1' }],
  ['pkg:oci/app?repository_url=r.example.com&tag=v1', { registry: 'r.example.com', repository: 'app', tag: 'v1' }],
  ['pkg:oci/app?repository_url=r.example.com%3A5000%2Fteam%2Fapp', { registry: 'r.example.com:5000', repository: 'team/app' }],
  ['pkg:oci/app?repository_url=https://r.example.com/team/app/', { registry: 'r.example.com', repository: 'team/app' }],
  ['pkg:oci/app?tag=v1&arch=amd64&repository_url=r.example.com/Team/App', { registry: 'r.example.com', repository: 'Team/App', tag: 'v1' }],
  [`pkg:oci/app@${digest}?tag=v1`, { repository: 'app', tag: 'v1', digest }],
  [`pkg:oci/app@${encodeURIComponent(digest)}?tag=v1#sub/path`, { repository: 'app', tag: 'v1', digest }],
  ['PKG:OCI/App?tag=V1', { repository: 'app', tag: 'V1' }],
  ['pkg://oci/app?tag=1%2B2', { repository: 'app', tag: '1+2' }],
  ['pkg:oci/app?tag', { repository: 'app' }],
  ['pkg:oci/app?tag=%', { repository: 'app' }],
  ['pkg:oci/%?tag=v1', undefined],
  ['pkg:oci/?tag=v1', undefined],
  ['pkg:oci/a/b?tag=v1', undefined],
  ['pkg:docker/app?tag=v1', undefined],
  ['pkg:golang/mygit.com/myorg/myapp@234fd47e07d1004f0aed9c', undefined],
  ['oci/app?tag=v1', undefined],
  ['', undefined],
] as const) {
  test(purl || '(nothing)', () => assert.deepEqual(readOciPurl(purl), expected));
}
