/** Limits that all providers accept: images per message, and base64 characters per image. */
export const maxImages = 8;
export const maxImageBase64Length = 5_000_000;
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
