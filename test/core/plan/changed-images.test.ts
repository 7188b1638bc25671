/** How the images of a change are worded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeImages, describeImagesBack, listImages } from '../../../src/core/plan/changed-images.ts';

const proxy = { container: 'proxy', from: 'r/proxy:1', to: 'r/proxy:2' };
const both = { container: 'web', from: 'r/web:1', to: 'r/web:2', alongside: [proxy] };
const companionAlone = { ...both, from: 'r/web:2' };
const alone = { container: 'web', from: 'r/web:1', to: 'r/web:2' };

for (const [what, change, forth, back, images] of [
  [
    'an image and its companion',
    both,
    'web from r/web:1 to r/web:2, proxy from r/proxy:1 to r/proxy:2',
    'web from r/web:2 back to r/web:1, proxy from r/proxy:2 back to r/proxy:1',
    'r/web:2 and r/proxy:2',
  ],
  ['a companion alone', companionAlone, 'proxy from r/proxy:1 to r/proxy:2', 'proxy from r/proxy:2 back to r/proxy:1', 'r/proxy:2'],
  ['an image without companions', alone, 'web from r/web:1 to r/web:2', 'web from r/web:2 back to r/web:1', 'r/web:2'],
] as const)
  test(`a change of ${what} is described with all of its images`, () => {
    assert.deepEqual([describeImages(change), describeImagesBack(change), listImages([change, change])], [forth, back, images]);
  });
