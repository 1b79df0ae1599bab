// The login: the page makes a key pair, the command line seals a secret for it, and only this page can open it.

export interface KeyPair {
  readonly publicKey: string;
  open(sealed: string): Promise<string>;
}

const RSA = { name: "RSA-OAEP", hash: "SHA-256" } as const;

export async function makeKeyPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey({ ...RSA, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, false, ["encrypt", "decrypt"]);
  const spki = await crypto.subtle.exportKey("spki", pair.publicKey);
  return {
    publicKey: toBase64(new Uint8Array(spki)),
    open: async (sealed) => {
      const secret = await crypto.subtle.decrypt(RSA, pair.privateKey, fromBase64(sealed));
      return new TextDecoder().decode(secret);
    },
  };
}

export function toBase64(data: Uint8Array): string {
  return btoa(String.fromCharCode(...data));
}

/** Reads base64 as it is copied from a terminal: with line breaks and spaces, also in the form for addresses. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const plain = text.replace(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(plain), (letter) => letter.charCodeAt(0));
}
