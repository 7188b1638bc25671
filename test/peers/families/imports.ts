import { z } from 'zod';
import { convertAll as convertAiu } from '../../../src/cli/import/argocd-image-updater/convert-all.ts';
import { convertAll as convertFlux } from '../../../src/cli/import/flux/convert-all.ts';
import { readObjects } from '../../../src/cli/import/read-files.ts';
import type { Imported } from '../../../src/cli/import/importer.ts';
import { isUsable } from '../../../src/core/model/image-policy.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { noAliases } from '../../core/model/samples.ts';
import { family } from '../family.ts';

const image = 'registry.example.com/shop/web';
const notImported = 'not imported';
const tags = z.array(z.string());

/** Whether a tag is in a version constraint of Flux, for a policy that `import flux` writes. */
export const fluxRanges = family('flux-ranges', z.strictObject({ range: z.string(), tag: z.string() }), ({ range, tag }) => {
  const strategy = importedFromFlux({ policy: { semver: { range } } });
  return strategy === undefined ? notImported : strategy.reject(tag) === undefined;
});

/** The tag that a policy selects that `import flux` writes; null where it selects none. */
export const fluxSelections = family('flux-selections', z.strictObject({ policy: z.json(), tags }), (flux) => {
  const strategy = importedFromFlux({ policy: flux.policy });
  return strategy === undefined ? notImported : (selectTag(strategy, flux.tags) ?? null);
});

/** What of which tags passes a filter that `import flux` writes, each part once, as Flux keeps them by that part. */
export const fluxFilters = family('flux-filters', z.strictObject({ filterTags: z.json(), tags }), ({ filterTags, tags: all }) => {
  const strategy = importedFromFlux({ policy: { alphabetical: {} }, filterTags });
  if (strategy === undefined) return notImported;
  const admitted = all.filter((tag) => strategy.reject(tag) === undefined);
  return [...new Set(admitted.map((tag) => strategy.partOf?.(tag) ?? tag))];
});

/** The tag that a policy selects that `import argocd-image-updater` writes; null where it selects none. */
export const aiuSelections = family(
  'aiu-selections',
  z.strictObject({
    constraint: z.string().optional(),
    strategy: z.string().optional(),
    allowTags: z.string().optional(),
    ignoreTags: z.string().optional(),
    tags,
    created: z.record(z.string(), z.string()).optional(),
  }),
  ({ constraint, strategy, allowTags, ignoreTags, tags: all, created = {} }) => {
    const prefix = 'argocd-image-updater.argoproj.io/';
    const annotations = {
      [`${prefix}image-list`]: `web=${image}${constraint === undefined ? '' : `:${constraint}`}`,
      ...(strategy !== undefined && { [`${prefix}web.update-strategy`]: strategy }),
      ...(allowTags !== undefined && { [`${prefix}web.allow-tags`]: allowTags }),
      ...(ignoreTags !== undefined && { [`${prefix}web.ignore-tags`]: ignoreTags }),
    };
    const application = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name: 'web', namespace: 'argocd', annotations },
      spec: { destination: { namespace: 'shop' } },
    };
    const imported = strategyOf(convertAiu({ objects: read(application), areFiles: true, assumedNamespace: 'shop' }));
    if (imported === undefined) return notImported;
    const times = new Map(Object.entries(created).map(([tag, at]) => [tag, new Date(at)]));
    return selectTag(imported.withCreationTimes?.(times) ?? imported, all) ?? null;
  },
);

function importedFromFlux(spec: object): TagStrategy | undefined {
  const apiVersion = 'image.toolkit.fluxcd.io/v1';
  const metadata = { name: 'web', namespace: 'shop' };
  const containers = [{ name: 'web', image: `${image}:1.0.0` }];
  const objects = [
    { apiVersion, kind: 'ImageRepository', metadata, spec: { image } },
    { apiVersion, kind: 'ImagePolicy', metadata, spec: { imageRepositoryRef: { name: 'web' }, ...spec } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template: { spec: { containers } } } },
  ];
  return strategyOf(convertFlux({ objects: objects.flatMap(read), areFiles: false }));
}

function read(object: object): ReturnType<typeof readObjects> {
  return readObjects(JSON.stringify(object), 'shop');
}

/** How the imported policy chooses tags, as the service reads it; undefined where nothing is imported. */
function strategyOf({ policies }: Imported): TagStrategy | undefined {
  const [written] = policies;
  if (written === undefined) return undefined;
  const { metadata, spec } = written.policy;
  const context = { aliases: noAliases, customTargets: [], olderVersions: [] };
  const found = readPolicy({ metadata: { ...metadata, uid: 'u', resourceVersion: '1', generation: 1 }, spec }, context).spec;
  if (!isUsable(found)) throw new Error(`not a policy: ${found.problem.message}`);
  return found.strategy;
}
