/** Pictures that go with one message, and the bytes of each as base64: what all providers take. */
export const maxImages = 8;
export const largestImage = 5_000_000;
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
