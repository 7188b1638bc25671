/** The name under which the API server records what we own. Stored in users' objects: it never changes. */
export const fieldManager = 'image-watcher';
