/** How Google names itself in tokens. https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions */
export const googleIssuers = ['https://accounts.google.com', 'accounts.google.com'] as const;

/** Where Google publishes the keys of its tokens. */
export const googleKeys = 'https://www.googleapis.com/oauth2/v3/certs';
