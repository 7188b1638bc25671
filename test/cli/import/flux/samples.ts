/** The samples of Flux's own documentation and tests, and short resources of ours. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertAll } from '../../../../src/cli/import/flux/convert-all.ts';
import { readObjects } from '../../../../src/cli/import/read-files.ts';

export const folder = join(import.meta.dirname, 'samples');
export const sample = (name: string) => readFileSync(join(folder, `${name}.yaml`), 'utf8');
export const convert = (...texts: string[]) =>
  convertAll({ objects: texts.flatMap((text) => readObjects(text, 'default')), areFiles: true });
export const specs = (...texts: string[]) => convert(...texts).policies.map(({ policy }) => policy.spec);
export const problems = (...texts: string[]) => convert(...texts).skipped.map(({ object, problem }) => `${object}: ${problem}`);
export const notes = (...texts: string[]) => convert(...texts).policies.flatMap((one) => one.notes);

export const api = 'apiVersion: image.toolkit.fluxcd.io/v1';
export const repository = (more: object = {}) =>
  `${api}\nkind: ImageRepository\nmetadata: {name: web, namespace: flux-system}\nspec: ${JSON.stringify({ image: 'ghcr.io/shop/web', ...more })}`;
export const policy = (spec: object, name = 'web') =>
  `${api}\nkind: ImagePolicy\nmetadata: {name: ${name}, namespace: flux-system}\nspec: ${JSON.stringify({ imageRepositoryRef: { name: 'web' }, ...spec })}`;
export const semver = { policy: { semver: { range: '1.x' } } };
export const marked = (image = 'ghcr.io/shop/web:1.4.2', marker = 'flux-system:web') => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      containers:
      - name: web
        image: ${image} # {"$imagepolicy": "${marker}"}
`;
