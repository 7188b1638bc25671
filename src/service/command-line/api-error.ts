/** The API could not be called, or its response was an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status of the response; undefined if there was none. */
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}
