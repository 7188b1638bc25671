import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { isDigest, type RegistryAliases } from '../../../core/model/image-reference.ts';
import { type NamedBase, maxNamed } from '../facts.ts';
import { type Evidence, readReference } from './evidence.ts';

/** Reads the bases from the predicate of a statement. */
type ReadPredicate = (predicate: unknown, aliases: RegistryAliases) => Omit<NamedBase, 'by'>[];

/** The in-toto predicates that can name a base, by the beginning of their type. Provenance comes first, because SBOMs are larger and seldom name a base. */
const predicates: readonly (readonly [type: string, read: ReadPredicate])[] = [
  ['https://slsa.dev/provenance/v0.2', (predicate, aliases) => readMaterials(slsa02.safeParse(predicate).data?.materials, aliases)],
  [
    'https://slsa.dev/provenance/v1',
    (predicate, aliases) => readMaterials(slsa1.safeParse(predicate).data?.buildDefinition.resolvedDependencies, aliases),
  ],
  ['https://spdx.dev/Document', readSpdx],
  ['https://cyclonedx.org/bom', readCycloneDx],
];

/** The position of a predicate in the order of reading attestations; undefined for predicates that cannot name a base. */
export function predicateRank(predicateType: string): number | undefined {
  const rank = predicates.findIndex(([type]) => predicateType.startsWith(type));
  return rank === -1 ? undefined : rank;
}

/** The maximum number of entries to check: each takes microseconds, and a statement of 1 MiB may have a hundred thousand. */
const maxEntries = 2_000;
/** The maximum number of packages in an SBOM that may be a base, and of the references of each. */
const maxAncestors = 16;
const maxReferences = 128;
/** The first entries of a list that have the expected shape; none if the value is not a list. */
export const listOf = <T extends z.ZodType>(entry: T, most = maxEntries) =>
  z.unknown().transform((list) => {
    const entries: readonly unknown[] = Array.isArray(list) ? list.slice(0, most) : [];
    return entries.flatMap((one) => entry.safeParse(one).data ?? []);
  });
const hashes = z.object({ sha256: z.string().optional().catch(undefined), sha512: z.string().optional().catch(undefined) });
/** The annotation of an attestation of an input, which may be listed beside the input. */
const attested = z.object({ 'in-toto.io/predicate-type': z.string() });
const materials = listOf(
  z.object({
    uri: z.string().max(2_048),
    digest: hashes.optional().catch(undefined),
    annotations: attested.optional().catch(undefined),
  }),
);
const slsa02 = z.object({ materials });
const slsa1 = z.object({ buildDefinition: z.object({ resolvedDependencies: materials }) });
const statement = z.object({
  _type: z.string().startsWith('https://in-toto.io/Statement/'),
  predicateType: z.string(),
  predicate: z.unknown(),
});

/**
 * Finds the images among the inputs of a build (SLSA provenance), and the ancestors of an image in an SBOM. Provenance lists the images of all stages of the
 * build, so it proves a base only together with the layers. https://slsa.dev/spec/v1.1/provenance
 */
export const provenance: Evidence = {
  id: 'Provenance',
  find({ statements, aliases }) {
    const found = statements.flatMap((one) => {
      const { data } = statement.safeParse(one);
      const [, read] = predicates.find(([type]) => data?.predicateType.startsWith(type)) ?? [];
      return read?.(data?.predicate, aliases) ?? [];
    });
    return found.filter(({ digest }) => digest !== undefined).map((base) => ({ by: 'Provenance', ...base }));
  },
};

function readMaterials(found: z.output<typeof materials> | undefined, aliases: RegistryAliases) {
  const inputs = (found ?? []).filter(({ annotations }) => annotations === undefined);
  return readUris(
    inputs.map(({ uri, digest }) => ({ uri, digest: digestIn(digest) })),
    aliases,
  );
}

interface Uri {
  readonly uri: string;
  readonly digest?: string | undefined;
}

/** The images of the first URIs that name one. To read a URI takes much longer than to check an entry. */
function readUris(uris: readonly Uri[], aliases: RegistryAliases): Omit<NamedBase, 'by'>[] {
  const ofImages = uris.filter(({ uri }) => packageUri.test(uri) || plainUri.test(uri)).slice(0, maxNamed);
  return ofImages.flatMap(({ uri, digest }) => readImageUri(uri, digest, aliases) ?? []);
}

const packageUri = /^pkg:(?:docker|oci)\//;
const plainUri = /^(?:oci|docker|docker-image):\/\/(.+)$/;

function digestIn({ sha256, sha512 }: z.output<typeof hashes> = {}): string | undefined {
  return [`sha256:${sha256}`, `sha512:${sha512}`].find(isDigest);
}

/**
 * The image of a package URL (`pkg:docker/nginx@1.27?digest=…`, `pkg:oci/nginx@sha256:…?repository_url=…`), or of `oci://`, `docker://` and `docker-image://`.
 * Undefined for any other URI. https://github.com/package-url/purl-spec
 */
function readImageUri(uri: string, digest: string | undefined, aliases: RegistryAliases): Omit<NamedBase, 'by'> | undefined {
  const isPackage = packageUri.test(uri);
  const plain = plainUri.exec(uri)?.[1];
  const read = isPackage ? readPackageUrl(uri, aliases) : readReference(plain, aliases);
  if (!isPackage && plain === undefined) return undefined;
  const known = digest ?? read?.digest;
  return { ...read, ...defined({ digest: known }) };
}

function readPackageUrl(uri: string, aliases: RegistryAliases): Omit<NamedBase, 'by'> | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { pathname, searchParams } = new URL(uri);
  const [, type, path, version = ''] = /^(docker|oci)\/([^@]+)(?:@(.+))?$/.exec(tryDecode(pathname)) ?? [];
  // The name `pkg:oci/nginx` alone has no registry. The name `pkg:docker/nginx` is on Docker Hub.
  const name = searchParams.get('repository_url') ?? (type === 'docker' ? path : undefined);
  const given = [version, searchParams.get('digest') ?? '', searchParams.get('checksum') ?? ''].find(isDigest);
  const tag = isDigest(version) || version === '' ? (searchParams.get('tag') ?? '') : version;
  const read = (tag === '' ? undefined : readReference(name && `${name}:${tag}`, aliases)) ?? readReference(name, aliases);
  return { ...read, ...defined({ digest: given }) };
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const spdxPackage = z.object({ SPDXID: z.string(), externalRefs: z.unknown() });
const spdxReferences = listOf(z.object({ referenceType: z.literal('purl'), referenceLocator: z.string().max(2_048) }), maxReferences);
const spdxRelationship = z.object({ relationshipType: z.literal('DESCENDANT_OF'), relatedSpdxElement: z.string() });
const spdx = z.object({ packages: listOf(spdxPackage), relationships: listOf(spdxRelationship) });

/** The base images in SPDX: those of which something in the document is a `DESCENDANT_OF`. */
function readSpdx(predicate: unknown, aliases: RegistryAliases) {
  const { packages = [], relationships = [] } = spdx.safeParse(predicate).data ?? {};
  const ancestors = new Set(relationships.map(({ relatedSpdxElement }) => relatedSpdxElement));
  const references = packages
    .filter(({ SPDXID }) => ancestors.has(SPDXID))
    .slice(0, maxAncestors)
    .flatMap(({ externalRefs }) => spdxReferences.parse(externalRefs));
  return readUris(
    references.map(({ referenceLocator }) => ({ uri: referenceLocator })),
    aliases,
  );
}

const cycloneDx = z.object({
  metadata: z.object({ component: z.object({ pedigree: z.object({ ancestors: listOf(z.object({ purl: z.string().max(2_048) })) }) }) }),
});

/** The base images in CycloneDX: the ancestors in the pedigree of the component that the document describes. */
function readCycloneDx(predicate: unknown, aliases: RegistryAliases) {
  const { ancestors = [] } = cycloneDx.safeParse(predicate).data?.metadata.component.pedigree ?? {};
  return readUris(
    ancestors.map(({ purl }) => ({ uri: purl })),
    aliases,
  );
}
