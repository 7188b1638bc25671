import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CiSystem } from '../../../src/core/model/base-policy.ts';
import { findProject } from '../../../src/bases/triggers/find-project.ts';

const github: CiSystem = { system: 'githubDispatch', project: '$source', name: 'base-image' };
const enterprise: CiSystem = { ...github, url: 'https://github.example.com/api/v3' };
const gitlab: CiSystem = { system: 'gitlab', project: '$source', ref: 'main', url: 'https://gitlab.example.com:8443/' };

describe('the repository to rebuild an image', () => {
  for (const [source, ci, expected] of [
    ['https://github.com/shop/web', github, 'shop/web'],
    ['https://github.com/shop/web.git', github, 'shop/web'],
    ['git+https://github.com/shop/web.git', github, 'shop/web'],
    ['git@github.com:shop/web.git', github, 'shop/web'],
    ['ssh://git@github.com:22/shop/web.git', github, 'shop/web'],
    ['https://github.com/shop/web/tree/main/services/api', github, 'shop/web'],
    ['https://GitHub.com/shop/web', github, 'shop/web'],
    ['https://github.example.com/shop/web', enterprise, 'shop/web'],
    ['https://gitlab.example.com:8443/shop/backend/web/-/tree/main', gitlab, 'shop/backend/web'],
    ['anything at all', { ...github, project: 'shop/monorepo' }, 'shop/monorepo'],
    [undefined, { system: 'jenkins', url: 'https://ci.example.com', name: 'web' }, undefined],
  ] as const) {
    it(`is ${expected ?? 'not needed'} for the source ${source}`, () =>
      assert.deepEqual(findProject({ ci }, source), expected === undefined ? {} : { project: expected }));
  }

  for (const [source, ci, why] of [
    [undefined, github, /does not say which source/],
    ['https://evil.example.com/shop/web', github, /a source on evil\.example\.com, and the policy calls github\.com/],
    ['https://github.com@evil.example.com/shop/web', github, /a source on evil\.example\.com/],
    ['https://github.com:444/shop/web', github, /a source on github\.com:444/],
    ['https://github.com/shop', github, /without a repository/],
    ['https://github.com/shop/web%2f..%2fadmin', github, /without a repository/],
    ['https://github.com/../../admin', github, /without a repository/],
    ['https://github.com/shop/ web', github, /without a repository/],
    ['https://github.com/-shop/web', github, /without a repository/],
    [`https://github.com/shop/${'w'.repeat(300)}`, github, /without a repository/],
    ['javascript:alert(1)', github, /no address of a repository/],
    ['file:///etc/passwd', github, /no address of a repository/],
    ['https://gitlab.com/shop/web', gitlab, /a source on gitlab\.com, and the policy calls gitlab\.example\.com:8443/],
  ] as const) {
    it(`is refused for the source ${String(source).slice(0, 60)}`, () => {
      const found = findProject({ ci }, source);
      assert.match('problem' in found ? found.problem : JSON.stringify(found), why);
    });
  }

  it('is refused for a source that the action does not allow', () => {
    const allowed = (...sources: string[]) => 'project' in findProject({ ci: github, sources }, 'https://github.com/shop/web');
    assert.deepEqual([allowed('shop/*'), allowed('ops/*', '*/web'), allowed('shop/web')], [true, true, true]);
    assert.deepEqual([allowed('shop/we'), allowed('ops/*'), allowed('SHOP/*')], [false, false, false]);
  });
});
