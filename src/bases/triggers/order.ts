/** A rebuild that a BaseImagePolicy requests: the source, the base, and the state of the request. Pure. */

/** The data about a rebuild that a CI system receives. */
export interface Rebuild {
  /** The id of the rebuild, which is the same at every try, so that a receiver can recognize a repetition. */
  readonly id: string;
  readonly policy: { readonly namespace: string; readonly name: string };
  readonly base: { readonly repository: string; readonly tag: string; readonly digest: string };
  /** The repository of the CI system, or the source that the image names as its own. */
  readonly source: string;
  /** One of the images that are built from the source: `harbor.example.com/shop/web:1.2.3`. */
  readonly image: string;
}

/** The source to rebuild, and the pipeline that rebuilds it (`pipelineOf`). */
export interface RebuildTarget {
  readonly pipeline: string;
  readonly source: string;
}

/** The state of the request. */
export interface RebuildState extends RebuildTarget {
  /** Pending: the CI system has not accepted the request yet. Failed: it never will. */
  readonly state: 'Pending' | 'Requested' | 'Failed';
  readonly at: string;
  /** Why the last try of the request failed. */
  readonly message?: string;
  /** The time of an earlier request that this one repeats on purpose. */
  readonly after?: string;
}

/** An HTTP POST request. */
export interface CiRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The inputs of a request besides the rebuild. */
export interface CiAccess {
  /** The address of the CI system, without a trailing slash. */
  readonly url: string;
  /** The repository at the CI system: `shop/web`. */
  readonly project: string;
  /** The name of the event, workflow or job. */
  readonly name: string;
  readonly ref: string;
  /** The token or signing key; empty if the policy names no Secret. */
  readonly secret: string;
  readonly now: Date;
}

/** A kind of CI system. Each has its own file. */
export interface CiSystemKind {
  /** The name of the system in `spec.onNewBase[].trigger`, and of its file. */
  readonly id: 'githubDispatch' | 'githubWorkflow' | 'gitlab' | 'gitea' | 'tekton' | 'jenkins' | 'webhook';
  /** The address of the public service, if the system has one. */
  readonly publicUrl?: string;
  /** Builds the request as the documentation of the system describes it. */
  build(rebuild: Rebuild, access: CiAccess): CiRequest;
}

/** The rebuild as text inputs, for systems that take parameters: `base_image`, `base_tag`, `base_digest`, `image`, `request_id`. */
export function inputsOf({ id, base, image }: Rebuild): Record<string, string> {
  return { base_image: base.repository, base_tag: base.tag, base_digest: base.digest, image, request_id: id };
}
