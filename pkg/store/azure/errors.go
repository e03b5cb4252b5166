package azure

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Codes of S3 that only this store's errors have.
const (
	codeSignature = "SignatureDoesNotMatch"
	codeSkewed    = "RequestTimeTooSkewed"
)

// sameCodes maps codes of Azure to codes of S3.
var sameCodes = map[string]string{
	"BlobNotFound": store.CodeNoKey, "PathNotFound": store.CodeNoKey, "ResourceNotFound": store.CodeNoKey,
	"ContainerNotFound": store.CodeNoBucket, "FilesystemNotFound": store.CodeNoBucket,
	"AuthorizationFailure": store.CodeDenied, "AuthorizationPermissionMismatch": store.CodeDenied, "AuthorizationServiceMismatch": store.CodeDenied,
	"AuthorizationResourceTypeMismatch": store.CodeDenied, "InsufficientAccountPermissions": store.CodeDenied, "AuthorizationProtocolMismatch": store.CodeDenied,
	"NoAuthenticationInformation": store.CodeUnauthorized, "InvalidAuthenticationInfo": store.CodeUnauthorized,
	"ConditionNotMet": store.CodePrecondition, "FeatureNotEnabled": "NotImplemented", "UnsupportedHeader": "NotImplemented",
	"FeatureNotSupported": "NotImplemented", // from Azurite, with the status of an internal error
	"FeatureNotYetSupportedForHierarchicalNamespaceAccounts": "NotImplemented", "BlobTagsNotSupportedForAccountType": "NotImplemented",
}

// refusal turns an answer other than a success into an error.
func refusal(r *httpclient.Reply) *store.Error {
	return refusalOf(r.Status, r.Header("x-ms-error-code"), r.Document())
}

// refusalOf turns status, code and document of an answer into an error. The document is XML or,
// from Data Lake Storage, JSON.
func refusalOf(status int, code string, document []byte) *store.Error {
	said := readError(document)
	code = said.Code(code)
	text := said.Message
	switch detail := strings.ToLower(said.Detail); {
	case code == "AuthenticationFailed" && strings.Contains(detail, "date header"):
		code, text = codeSkewed, said.Detail
	case code == "AuthenticationFailed" && strings.Contains(detail, "mac signature"):
		code, text = codeSignature, "the store computes another signature"
	case code == "AuthenticationFailed" && strings.Contains(detail, "signature did not match"):
		code, text = store.CodeDenied, "the shared access signature is wrong"
	case code == "AuthenticationFailed":
		code = store.CodeDenied
		if said.Detail != "" {
			text = said.Detail
		}
	case sameCodes[code] != "":
		code = sameCodes[code]
	case code == "" && status == http.StatusNotFound:
		code = store.CodeNoKey
	case code == "" && status == http.StatusPreconditionFailed:
		code = store.CodePrecondition
	case code == "" && status == http.StatusUnauthorized:
		code = store.CodeUnauthorized
	case code == "" && status == http.StatusForbidden:
		code = store.CodeDenied
	case code == "":
		code = fmt.Sprintf("HTTP%d", status)
	}
	return store.Refusal(status, code, text)
}

// A saidError is the document of an error.
type saidError struct {
	Name    string `xml:"Code" json:"code"`
	Message string `json:"message"`
	Detail  string `xml:"AuthenticationErrorDetail" json:"-"`
}

// Code is the code in the header, or else in the document.
func (s *saidError) Code(header string) string {
	code := header
	if code == "" {
		code = s.Name
	}
	if len(code) > 80 || strings.ContainsFunc(code, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return ""
	}
	return code
}

// readError reads the document of an error. A document in an unknown form becomes the message.
func readError(document []byte) (said saidError) {
	document = bytes.TrimSpace(bytes.TrimPrefix(document, []byte("\ufeff")))
	var wrapped struct {
		Error saidError `json:"error"`
	}
	if bytes.HasPrefix(document, []byte("{")) && json.Unmarshal(document, &wrapped) == nil {
		said = wrapped.Error
	} else if xml.Unmarshal(document, &said) != nil || said.Name == "" {
		said.Message = string(document[:min(len(document), 1024)])
	}
	if at := strings.Index(said.Message, "\nRequestId:"); at > 0 { // it differs from request to request
		said.Message = said.Message[:at]
	}
	return said
}
