/** A rebuild that a BaseImagePolicy requests: what is rebuilt, for which base, and how far the request has come. Pure. */

/** What a CI system is told about a rebuild. */
export interface Rebuild {
  /** The same at every try, so that a receiver can tell a repetition. */
  readonly id: string;
  readonly policy: { readonly namespace: string; readonly name: string };
  readonly base: { readonly repository: string; readonly tag: string; readonly digest: string };
  /** The repository of the CI system, or the source that the image names as its own. */
  readonly source: string;
  /** One of the images that are built from it: `harbor.example.com/shop/web:1.2.3`. */
  readonly image: string;
}

/** What is rebuilt, and by which pipeline (`pipelineOf`). */
export interface RebuildTarget {
  readonly pipeline: string;
  readonly source: string;
}

/** How far the request has come. */
export interface RebuildState extends RebuildTarget {
  /** Pending: the CI system has not accepted it yet. Failed: it never will. */
  readonly state: 'Pending' | 'Requested' | 'Failed';
  readonly at: string;
  /** Why the last try failed. */
  readonly message?: string;
  /** The time of an earlier request that this one repeats on purpose. */
  readonly after?: string;
}

/** A request over HTTP; it is a POST. */
export interface CiRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request is built from, besides the rebuild. */
export interface CiAccess {
  /** The address of the system, without a trailing slash. */
  readonly url: string;
  /** The repository of the system: `shop/web`. */
  readonly project: string;
  /** The event, workflow or job. */
  readonly name: string;
  readonly ref: string;
  /** The token or signing key; empty if the policy names none. */
  readonly secret: string;
  readonly now: Date;
}

/** A CI system: one file for each. */
export interface CiSystemKind {
  /** The name in `spec.onNewBase[].trigger`, and the file name. */
  readonly id: 'githubDispatch' | 'githubWorkflow' | 'gitlab' | 'gitea' | 'tekton' | 'jenkins' | 'webhook';
  /** The address of the public service. */
  readonly publicUrl?: string;
  /** Builds the request; source: the documentation of the system. */
  build(rebuild: Rebuild, access: CiAccess): CiRequest;
}

/** The rebuild as text inputs, for systems that take parameters: `base_image`, `base_tag`, `base_digest`, `image`, `request_id`. */
export function inputsOf({ id, base, image }: Rebuild): Record<string, string> {
  return { base_image: base.repository, base_tag: base.tag, base_digest: base.digest, image, request_id: id };
}
